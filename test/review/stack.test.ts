// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { planOfStack, renderMarkdown, reviewPlan } from "../../review/index.ts";

const stackOf = (resource: object, locals: object = {}) =>
  planOfStack(JSON.stringify({ resource, locals }), "cdk.tf.json");

describe("a generated stack, reviewed without a plan", () => {
  test("makes everything that is in it, and says that nothing was compared", () => {
    const markdown = renderMarkdown(reviewPlan(stackOf({ aws_vpc: { vpc: {} }, aws_subnet: { a: {}, b: {} } })));
    expect(markdown).toMatch(/^## 3 to add\n\nWhat a first apply makes/);
    expect(markdown).toContain("| add | `aws_subnet` | 2 | `a`, `b` |");
  });

  test("has each machine of a block with for_each", () => {
    const workers = { "w-1": { size: "t3.large" }, "w-2": { size: "t3.small" } };
    const worker = {
      for_each: "${local.workers}",
      instance_type: "${each.value.size}",
      ami: "${data.aws_ami.talos.id}",
    };
    const plan = stackOf({ aws_instance: { worker } }, { workers });
    expect(plan.changes.map(({ address, after }) => [address, after])).toEqual([
      ['aws_instance.worker["w-1"]', { instance_type: "t3.large" }],
      ['aws_instance.worker["w-2"]', { instance_type: "t3.small" }],
    ]);
    const markdown = renderMarkdown(reviewPlan(plan));
    expect(markdown).toMatch(/^## 2 to add\n/);
    expect(markdown).toContain('| add | `aws_instance` | 2 | `worker["w-1"]`, `worker["w-2"]` |');
  });

  test("tells dangers as a plan does", () => {
    const rule = { from_port: 50000, to_port: 50000, cidr_ipv4: "0.0.0.0/0", ip_protocol: "tcp" };
    const { findings } = reviewPlan(stackOf({ aws_vpc_security_group_ingress_rule: { talos: rule } }));
    expect(findings).toMatchObject([{ level: "danger", title: "Port opened to the world" }]);
  });

  test("knows the machines of a cluster, whose addresses are references", () => {
    const machines = {
      "cp-1": {
        role: "controlplane",
        address: "${aws_instance.cp_1.public_ip}",
        member_id: "${talosmith_member.cp_1.id}",
      },
      "w-1": { role: "worker", address: "${aws_instance.w_1.public_ip}", member_id: "${talosmith_member.w_1.id}" },
    };
    const { clusters } = reviewPlan(stackOf({ talosmith_cluster: { cluster: { name: "sandbox", machines } } }));
    expect(clusters).toMatchObject([
      {
        name: "sandbox",
        machinesAfter: [
          { name: "cp-1", controlPlane: true, memberId: undefined },
          { name: "w-1", controlPlane: false, memberId: undefined },
        ],
      },
    ]);
  });

  test("knows the machines of a cluster, whose names and roles come from the maps of the machines", () => {
    const machinesOf = (pool: string, role: string) =>
      `{ for key, machine in local.${pool} : "lab-\${key}" => { role = "${role}", address = machine.address, member_id = talosmith_member.${pool}[key].id } }`;
    const cluster = {
      name: "lab",
      machines: `\${merge(${machinesOf("control_plane", "controlplane")}, ${machinesOf("worker", "worker")})}`,
      talos_endpoints: "${[for instance in aws_instance.control_plane : instance.public_ip]}",
    };
    const locals = {
      control_plane: { "cp-1": { address: "10.5.0.2" } },
      worker: { "w-1": { address: "${aws_instance.w.private_ip}" }, "w-2": { address: "10.5.0.4" } },
    };
    const { clusters } = reviewPlan(stackOf({ talosmith_cluster: { cluster } }, locals));
    expect(clusters).toMatchObject([
      {
        name: "lab",
        initialConfig: "user-data",
        machinesAfter: [
          { name: "lab-cp-1", controlPlane: true, memberId: undefined },
          { name: "lab-w-1", controlPlane: false, memberId: undefined },
          { name: "lab-w-2", controlPlane: false, memberId: undefined },
        ],
      },
    ]);
  });

  test.each([
    ["a reference", "${aws_vpc.vpc.id}", {}],
    ["a template", "prefix-${aws_vpc.vpc.id}", {}],
    ["a reference in a list", ["${a.b.id}", "c"], { value: [null, "c"] }],
    ["a reference in a block", { inner: "${a.b.id}", known: 1 }, { value: { known: 1 } }],
    ["a directive", "%{if true}a%{endif}", {}],
    ["a local", "${local.cluster}-1", { value: "lab-1" }],
    ["an expression that cannot be read", "${local.cluster", {}],
    ["the text of a template", "$${a} %%{b}", { value: "${a} %{b}" }],
  ])("%s is known or not as in a plan", (_name, value, after) => {
    expect(stackOf({ some_type: { it: { value } } }, { cluster: "lab" }).changes[0]?.after).toEqual(after);
  });

  test("leaves out what is for Terraform itself", () => {
    const block = { "//": {}, depends_on: ["a.b"], lifecycle: { prevent_destroy: true }, name: "x" };
    expect(stackOf({ some_type: { it: block } }).changes[0]?.after).toEqual({ name: "x" });
  });

  test("refuses locals that refer to each other, as Terraform does", () => {
    const resource = { some_type: { it: { value: "${local.a}" } } };
    expect(() => stackOf(resource, { a: "${local.b}", b: "${local.a}" })).toThrow(
      "cdk.tf.json: locals refer to each other in a circle: a → b → a",
    );
  });

  test.each([
    ["", "cdk.tf.json: this is not JSON"],
    [JSON.stringify({ resource: { aws_vpc: 1 } }), "cdk.tf.json: resource.aws_vpc: "],
  ])("refuses %j with the way to write it again", (text, message) => {
    expect(() => planOfStack(text, "cdk.tf.json")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message),
        hint: expect.stringContaining("talosmith synth"),
      }),
    );
  });
});
