// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { dangersIn } from "../../../cli/actions/deploy-with-terraform.ts";

const planOf = (type: string, actions: readonly string[], before: object | null, after: object | null) =>
  JSON.stringify({
    format_version: "1.2",
    resource_changes: [{ address: `${type}.it`, mode: "managed", type, change: { actions, before, after } }],
  });

const plane = { role: "controlplane", member_id: "m", address: "10.0.0.1" };
const cluster = (...names: string[]) => ({
  name: "lab",
  on_destroy: "reset",
  machines: Object.fromEntries(names.map((name) => [name, plane])),
});

test("tells of a quorum that a plan touches", () => {
  const plan = planOf("talosmith_cluster", ["update"], cluster("cp-1", "cp-2", "cp-3"), cluster("cp-1"));
  expect(dangersIn(plan)).toMatch(/^\nDANGER Quorum touched: talosmith_cluster\.it: .+\n$/);
});

test("says nothing of a plan that only makes something", () => {
  expect(dangersIn(planOf("talosmith_cluster", ["create"], null, cluster("cp-1")))).toBe("");
});

test("names what was copied from an example", () => {
  const rule = { from_port: 6443, to_port: 6443, cidr_ipv4: "203.0.113.0/24", ip_protocol: "tcp" };
  expect(dangersIn(planOf("aws_vpc_security_group_ingress_rule", ["create"], null, rule))).toMatch(
    /^\nPlaceholder: aws_vpc_security_group_ingress_rule\.it: 203\.0\.113\.0\/24 is .+\n$/,
  );
});
