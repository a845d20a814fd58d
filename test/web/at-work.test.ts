// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { withWork } from "../../web/server/cluster-view.ts";
import type { ClusterView, OperationView } from "../../web/shared/wire.ts";

const machine = (name: string, health: string) => ({ name, health, stage: "the connection was refused" });
const cluster = (environment: string) =>
  ({ environment, machines: [machine("cp-1", "unreachable"), machine("w-1", "ready")] }) as unknown as ClusterView;
const operation = (id: string, state: string, more: object = {}) =>
  ({ environment: "lab", endedAt: null, steps: [{ id, state }], ...more }) as unknown as OperationView;

test.each([
  ["gets its first config", operation("apply-config/cp-1", "running"), "starting"],
  ["is upgraded", operation("upgrade-talos/cp-1", "running"), "starting"],
  ["is still to be upgraded", operation("upgrade-talos/cp-1", "planned"), "unreachable"],
  ["is waited for in etcd", operation("join-etcd/cp-1", "running"), "unreachable"],
  ["is wiped", operation("reset/cp-1", "running"), "unreachable"],
  ["was upgraded in an operation that ended", operation("reboot/cp-1", "running", { endedAt: "now" }), "unreachable"],
  ["has its name in another cluster", operation("reboot/cp-1", "running", { environment: "rack" }), "unreachable"],
  ["is not the one at work", operation("reboot/cp-11", "running"), "unreachable"],
])("a silent machine that %s is told as what it is", (_, at, health) => {
  const found = withWork(cluster("lab"), [at]);
  expect(found.machines.map((row) => row.health)).toEqual([health, "ready"]);
});

test.each([
  ["applied to", "unhealthy", { kind: "apply" }, "changing"],
  ["brought up by Terraform", "unhealthy", { kind: "terraform deploy" }, "changing"],
  ["well all the while", "healthy", { kind: "terraform deploy" }, "healthy"],
  ["only backed up", "unhealthy", { kind: "backup" }, "unhealthy"],
  ["left alone again", "unhealthy", { kind: "terraform deploy", endedAt: "now" }, "unhealthy"],
])("a cluster that is %s is told as what it is", (_, state, more, expected) => {
  const seen = { ...cluster("lab"), state } as ClusterView;
  expect(withWork(seen, [operation("join-etcd/cp-1", "running", more)]).state).toBe(expected);
});
