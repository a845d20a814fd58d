// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePlan, reaches, renderMarkdown, reviewPlan } from "../../review/index.ts";

type Values = Record<string, unknown>;
interface PlannedChange {
  readonly address: string;
  readonly actions: readonly string[];
  readonly before?: Values | null;
  readonly after?: Values | null;
  readonly unknown?: Values;
  readonly replacePaths?: readonly (readonly (string | number)[])[];
}

function planOf(changes: readonly PlannedChange[], more: Values = {}): string {
  return JSON.stringify({
    format_version: "1.2",
    resource_changes: changes.map(({ address, actions, before = null, after = null, unknown = {}, replacePaths }) => ({
      address,
      mode: "managed",
      type: address.split(".")[0],
      change: { actions, before, after, after_unknown: unknown, replace_paths: replacePaths },
    })),
    ...more,
  });
}

const review = (text: string) => reviewPlan(parsePlan(text, "plan.json"));
const told = (text: string) =>
  review(text).findings.map(({ level, title, address }) => `${level}: ${title}: ${address}`);

const machine = (role: string, member: string | null) => ({ role, member_id: member, address: "10.0.0.1" });
const cluster = (machines: Values, more: Values = {}) => ({ name: "prod", on_destroy: "reset", machines, ...more });
const three = {
  "cp-1": machine("controlplane", "m1"),
  "cp-2": machine("controlplane", "m2"),
  "cp-3": machine("controlplane", "m3"),
  "w-1": machine("worker", "m4"),
};
const { "cp-3": _cp3, ...two } = three;
const { "w-1": _w1, ...withoutWorker } = three;
const rule = (port: number, cidr: string) => ({ from_port: port, to_port: port, cidr_ipv4: cidr, ip_protocol: "tcp" });
const change = (before: Values, after: Values): PlannedChange => ({
  address: "talosmith_cluster.cluster",
  actions: ["update"],
  before: cluster(before),
  after: cluster(after),
});
const ingress = "aws_vpc_security_group_ingress_rule.api";
const member = (name: string, id: string) => ({
  address: `talosmith_member.${name}`,
  actions: ["no-op"],
  before: { name, machine_id: id },
  after: { name, machine_id: id },
});

test.each<[string, unknown, readonly string[]]>([
  ["a network of examples", "203.0.113.0/24", ["203.0.113.0/24"]],
  ["an address in a longer text", "https://198.51.100.7:6443", ["198.51.100.7"]],
  ["an IPv6 network of examples", ["2001:db8:1::/48"], ["2001:db8:1::/48"]],
  ["a name in a domain of examples", { zone: "k8s.Example.com." }, ["Example.com"]],
  ["a real network beside it", "203.0.114.0/24 1203.0.113.7", []],
  ["a real domain like it", "my-example.com example.community", []],
])("of %s, tells what nobody has replaced", (_, value, expected) => {
  const address = "aws_route53_record.dns";
  const { findings } = review(planOf([{ address, actions: ["create"], after: { value, again: value } }]));
  const told = findings.map(({ level, title, sentence }) => `${level} ${title} ${sentence.split(" ")[0]}`);
  expect(told).toEqual(expected.map((text) => `caution Placeholder ${text}`));
});

test("tells machines with the same changes of their configs together", () => {
  const changes = { "cp-1": ["a: 1 → 2"], "cp-2": ["a: 1 → 2"], "w-1": ["b: added"] };
  const address = "talosmith_cluster.cluster";
  const text = planOf([{ address, actions: ["update"], before: cluster(three), after: cluster(three, { changes }) }]);
  expect(renderMarkdown(review(text))).toContain("# cp-1, cp-2\na: 1 → 2\n# w-1\nb: added\n");
});

test("tells what a refresh found to be changed outside", () => {
  const change = { actions: ["update"], before: cluster(three), after: cluster(three, { drift: ["mend it"] }) };
  const text = planOf([], {
    resource_drift: [{ address: "talosmith_cluster.cluster", mode: "managed", type: "talosmith_cluster", change }],
  });
  expect(review(text).drifted).toEqual(["talosmith_cluster.cluster"]);
});

test.each<[string, Values, boolean]>([
  [
    "an attribute that changes depend on",
    { relevant_attributes: [{ resource: "aws_vpc.vpc", attribute: ["cidr"] }] },
    true,
  ],
  ["the whole resource", { relevant_attributes: [{ resource: "aws_vpc.vpc", attribute: [] }] }, true],
  ["another attribute", { relevant_attributes: [{ resource: "aws_vpc.vpc", attribute: ["id"] }] }, false],
  ["nothing that changes depend on", {}, false],
])("tells of others' resources what terraform tells: %s was changed outside", (_, more, told) => {
  const before = { id: "vpc-1", cidr: "10.0.0.0/16" };
  const change = { actions: ["update"], before, after: { ...before, cidr: "10.1.0.0/16" } };
  const drift = [{ address: "aws_vpc.vpc", mode: "managed", type: "aws_vpc", change }];
  expect(review(planOf([], { resource_drift: drift, ...more })).drifted).toEqual(told ? ["aws_vpc.vpc"] : []);
});

describe("what a review finds", () => {
  const cases: readonly [string, readonly PlannedChange[], readonly string[]][] = [
    ["nothing in a plan without changes", [{ address: "aws_vpc.vpc", actions: ["no-op"], before: {}, after: {} }], []],
    [
      "nothing in a first deploy",
      [{ address: "talosmith_cluster.cluster", actions: ["create"], after: cluster(three) }],
      [],
    ],
    [
      "a first deploy that trusts whatever answers",
      [
        {
          address: "talosmith_cluster.cluster",
          actions: ["create"],
          after: cluster(three, { trust_on_first_use: true }),
        },
      ],
      ["caution: Trust on first use: talosmith_cluster.cluster"],
    ],
    [
      "no new trust where no machine comes",
      [
        {
          address: "talosmith_cluster.cluster",
          actions: ["update"],
          before: cluster(three, { trust_on_first_use: true }),
          after: cluster(three, { trust_on_first_use: true, endpoint: null }),
        },
      ],
      [],
    ],
    ["a control plane that leaves", [change(three, two)], ["danger: Quorum touched: talosmith_cluster.cluster"]],
    ["a worker that leaves", [change(three, withoutWorker)], ["caution: Disk wiped: talosmith_cluster.cluster"]],
    [
      "a control plane on a new machine",
      [change(three, { ...three, "cp-1": machine("controlplane", null) })],
      ["danger: Control plane replaced: talosmith_cluster.cluster"],
    ],
    [
      "two control planes on new machines at once",
      [change(three, { ...three, "cp-1": machine("controlplane", "x"), "cp-2": machine("controlplane", null) })],
      [
        "danger: Control plane replaced: talosmith_cluster.cluster",
        "danger: Control plane replaced: talosmith_cluster.cluster",
        "danger: Quorum touched: talosmith_cluster.cluster",
      ],
    ],
    [
      "a cluster that is destroyed",
      [{ address: "talosmith_cluster.cluster", actions: ["delete"], before: cluster(three) }],
      ["danger: Cluster destroyed: talosmith_cluster.cluster"],
    ],
    [
      "another endpoint, and protection that goes",
      [
        {
          address: "talosmith_cluster.cluster",
          actions: ["update"],
          before: cluster(three, { endpoint: "https://a:6443", on_destroy: "prevent" }),
          after: cluster(three, { endpoint: "https://b:6443" }),
        },
      ],
      ["caution: Endpoint moves: talosmith_cluster.cluster", "caution: Protection removed: talosmith_cluster.cluster"],
    ],
    [
      "a machine whose cluster lets it leave first, once",
      [
        change(three, two),
        member("cp-3", "i-3"),
        { address: "aws_instance.cp_3", actions: ["delete"], before: { id: "i-3" } },
      ],
      ["danger: Quorum touched: talosmith_cluster.cluster"],
    ],
    ...[
      ["libvirt_domain", { name: "w-1" }],
      ["docker_container", { id: "4a5b", name: "w-1" }],
      ["kubernetes_stateful_set_v1", { id: "talos-prod/w-1", metadata: [{ name: "w-1" }] }],
    ].map(([type, before]): [string, readonly PlannedChange[], readonly string[]] => [
      `a worker that leaves before its ${type} goes, by the name they share`,
      [
        change(three, withoutWorker),
        member("w-1", "its disk"),
        { address: `${type}.w_1`, actions: ["delete"], before: before as Values },
      ],
      ["caution: Disk wiped: talosmith_cluster.cluster"],
    ]),
    [
      "a machine that no cluster lets leave",
      [{ address: "libvirt_domain.cp_1", actions: ["delete", "create"], before: { id: "d-1" }, after: {} }],
      ["danger: Machine replaced: libvirt_domain.cp_1"],
    ],
    [
      "machines that are stopped and keep their disks",
      [
        change(three, three),
        member("w-1", "its disk"),
        member("cp-1", "i-1"),
        {
          address: 'libvirt_domain.worker["w-1"]',
          actions: ["delete", "create"],
          before: { name: "w-1" },
          after: { name: "w-1" },
        },
        {
          address: 'aws_instance.control_plane["cp-1"]',
          actions: ["update"],
          before: { id: "i-1", instance_type: "t3.large" },
          after: { id: "i-1", instance_type: "t3.xlarge" },
        },
      ],
      ['caution: Machines stopped: libvirt_domain.worker["w-1"]'],
    ],
    [
      "nothing in an instance that is changed while it runs",
      [
        member("cp-1", "i-1"),
        {
          address: 'aws_instance.control_plane["cp-1"]',
          actions: ["update"],
          before: { id: "i-1", monitoring: false },
          after: { id: "i-1", monitoring: true },
        },
      ],
      [],
    ],
    [
      "a disk, but not the ISO that is made anew",
      [
        { address: "libvirt_volume.w_1_disk", actions: ["delete"], before: { name: "talos-w-1.qcow2" } },
        {
          address: "libvirt_volume.w_1_iso",
          actions: ["create", "delete"],
          before: { name: "talos-w-1-12.iso" },
          after: {},
        },
      ],
      ["danger: Data lost: libvirt_volume.w_1_disk"],
    ],
    [
      "a bucket that goes with its public access block, once",
      [
        { address: "aws_s3_bucket.logs", actions: ["delete"], before: { id: "logs-1", bucket: "logs-1" } },
        { address: "aws_s3_bucket_public_access_block.logs", actions: ["delete"], before: { bucket: "logs-1" } },
        { address: "aws_s3_bucket_public_access_block.other", actions: ["delete"], before: { bucket: "other-1" } },
      ],
      [
        "danger: Data lost: aws_s3_bucket.logs",
        "danger: Bucket opened to the world: aws_s3_bucket_public_access_block.other",
      ],
    ],
    [
      "secrets and buckets that go",
      [
        { address: "talosmith_secrets.secrets", actions: ["delete"], before: {} },
        { address: "aws_s3_bucket.backups", actions: ["delete", "create"], before: {}, after: {} },
      ],
      ["danger: Data lost: talosmith_secrets.secrets", "danger: Data lost: aws_s3_bucket.backups"],
    ],
    [
      "a port opened to the world",
      [{ address: ingress, actions: ["create"], after: rule(50000, "0.0.0.0/0") }],
      [`danger: Port opened to the world: ${ingress}`],
    ],
    [
      "no port that was open before",
      [{ address: ingress, actions: ["update"], before: rule(6443, "0.0.0.0/0"), after: rule(6443, "0.0.0.0/0") }],
      [],
    ],
    ["no port for a few", [{ address: ingress, actions: ["create"], after: rule(6443, "203.0.114.0/24") }], []],
    [
      "open ports in older forms of rules, in IPv6 too",
      [
        {
          address: "aws_security_group_rule.a",
          actions: ["create"],
          after: { type: "ingress", from_port: 2379, to_port: 2380, ipv6_cidr_blocks: ["::/0"] },
        },
        {
          address: "aws_security_group.b",
          actions: ["create"],
          after: { ingress: [{ from_port: 0, to_port: 0, cidr_blocks: ["0.0.0.0/0"] }] },
        },
      ],
      [
        "danger: Port opened to the world: aws_security_group_rule.a",
        "danger: Port opened to the world: aws_security_group.b",
      ],
    ],
    [
      "a bucket that may be read by anyone",
      [
        {
          address: "aws_s3_bucket_public_access_block.b",
          actions: ["update"],
          before: {},
          after: { block_public_acls: false },
        },
      ],
      ["danger: Bucket opened to the world: aws_s3_bucket_public_access_block.b"],
    ],
    [
      "protection that is switched off",
      [
        {
          address: "aws_lb.api",
          actions: ["update"],
          before: { enable_deletion_protection: true },
          after: { enable_deletion_protection: false },
        },
      ],
      ["caution: Protection removed: aws_lb.api"],
    ],
    [
      "a template whose machines that run keep their hardware",
      [
        {
          address: "aws_launch_template.burst_template",
          actions: ["update"],
          before: { name: "lab-burst", instance_type: "m7i.large", user_data: "a" },
          after: { name: "lab-burst", instance_type: "m7i.xlarge", user_data: "b" },
        },
      ],
      ["caution: Running machines keep the old template: aws_launch_template.burst_template"],
    ],
    [
      "a template with another image and config, which the engine brings to the machines that run",
      [
        {
          address: "aws_launch_template.burst_template",
          actions: ["update"],
          before: { name: "lab-burst", image_id: "ami-1", user_data: "a" },
          after: { name: "lab-burst", image_id: "ami-2", user_data: "b" },
        },
      ],
      [],
    ],
  ];
  test.each(cases)("%s", (_name, changes, findings) => {
    expect(told(planOf(changes))).toEqual(findings);
  });
});

describe("a plan that the real terraform wrote", () => {
  const real = readFileSync("test/golden/plans/scale-down.json", "utf8");

  test("is told with danger first and the steps in order", () => {
    const markdown = renderMarkdown(review(real));
    expect(markdown).toMatch(/^## 1 danger · 2 to change, 4 to destroy\n/);
    expect(markdown).toContain("goes from 3 to 1 control planes and then survives the loss of none");
    expect(markdown).toContain("1. drain local-cp-2\n2. remove local-cp-2 from the cluster");
    expect(markdown.indexOf("### Danger")).toBeLessThan(markdown.indexOf("### Cluster `local`"));
  });

  test("fails a check for danger and for less", () => {
    expect(reaches(review(real), "danger")).toBe(true);
    expect(reaches(review(real), "caution")).toBe(true);
    expect(reaches(review(planOf([change(three, withoutWorker)])), "danger")).toBe(false);
  });
});

describe("the markdown", () => {
  test("says that there is nothing to change", () => {
    expect(renderMarkdown(review(planOf([])))).toBe("## Nothing to change\n");
  });

  test("says when a plan is only a part", () => {
    expect(renderMarkdown(review(planOf([], { errored: true })))).toContain("ended with an error");
    expect(renderMarkdown(review(planOf([], { complete: false })))).toContain("partial");
  });

  test("shows versions, steps and config changes of a cluster", () => {
    const before = cluster(three, { talos_version: "v1.13.8" });
    const after = cluster(three, {
      talos_version: "v1.13.9",
      steps: ["1. upgrade cp-1"],
      changes: { "cp-1": ["machine.sysctls: none → (2 lines)"] },
    });
    const markdown = renderMarkdown(
      review(planOf([{ address: "talosmith_cluster.cluster", actions: ["update"], before, after }])),
    );
    expect(markdown).toContain("Talos `v1.13.8` → `v1.13.9`");
    expect(markdown).toContain("```text\n1. upgrade cp-1\n```");
    expect(markdown).toContain("# cp-1\nmachine.sysctls: none → (2 lines)");
  });

  test("tells a new cluster's size, versions and endpoint", () => {
    const after = cluster(three, {
      talos_version: "v1.13.9",
      kubernetes_version: "1.36.3",
      endpoint: "https://a:6443",
    });
    const markdown = renderMarkdown(
      review(planOf([{ address: "talosmith_cluster.cluster", actions: ["create"], after }])),
    );
    expect(markdown).toContain(
      "3 control planes, 1 worker · Talos `v1.13.9` · Kubernetes `1.36.3` · at `https://a:6443`",
    );
  });

  test("tells what a cluster that goes consisted of", () => {
    const before = cluster(three, { talos_version: "v1.13.9", kubernetes_version: "1.36.3" });
    const gone = planOf([{ address: "talosmith_cluster.cluster", actions: ["delete"], before }]);
    expect(renderMarkdown(review(gone))).toContain(
      "### Cluster `prod`\n\n3 control planes, 1 worker · Talos `v1.13.9` · Kubernetes `1.36.3`\n",
    );
  });

  test("names the attributes that change, those yet unknown too, and why something is replaced", () => {
    const markdown = renderMarkdown(
      review(
        planOf([
          {
            address: "aws_lb.api",
            actions: ["update"],
            before: { name: "api", tags: { a: "1" }, arn: "x", ports: [1] },
            after: { name: "api", tags: { a: "2" }, ports: [1] },
            unknown: { arn: true, ports: [false], tags: {} },
          },
          {
            address: "aws_instance.w_1",
            actions: ["delete", "create"],
            before: { id: "i-1", ami: "old", disk: [{ size: 1 }] },
            after: { ami: "new", disk: [{ size: 2 }] },
            unknown: { id: true },
            replacePaths: [["ami"], ["disk", 0, "size"]],
          },
        ]),
      ),
    );
    expect(markdown).toContain("- change `aws_lb.api`: `arn`, `tags`\n");
    expect(markdown).toContain("- replace `aws_instance.w_1` because of `ami`, `disk.0.size`: `ami`, `disk`, `id`");
  });

  test("counts resources by type, and leaves an address in a module whole", () => {
    const made = (address: string, type: string) => ({
      address,
      type,
      change: { actions: ["create"], before: null, after: {} },
    });
    const resources = [
      made("aws_eip.a", "aws_eip"),
      made("aws_eip.b", "aws_eip"),
      made("module.m.aws_eip.c", "aws_eip"),
    ];
    const markdown = renderMarkdown(review(planOf([], { resource_changes: resources })));
    expect(markdown).toContain("| add | `aws_eip` | 3 | `a`, `b`, `module.m.aws_eip.c` |");
  });

  test("never shows an attribute's value, whatever it is", () => {
    const secret = "canary-9f2d";
    const text = planOf([
      {
        address: "aws_instance.a",
        actions: ["update"],
        before: { user_data: secret },
        after: { user_data: `${secret}-2` },
      },
      { address: "talosmith_secrets.s", actions: ["delete"], before: { bundle: secret } },
    ]);
    expect(renderMarkdown(review(text))).not.toContain(secret);
  });

  test("does not let names break out of their place", () => {
    const hostile = fc.string({ unit: fc.constantFrom("`", "|", "\n", "@", "<", ">", "a", "#", "*") });
    fc.assert(
      fc.property(hostile, (name) => {
        const steps = [`1. ${name}`];
        const text = planOf([
          { address: `aws_instance.${name}`, actions: ["create"], after: {} },
          {
            address: "talosmith_cluster.c",
            actions: ["update"],
            before: cluster({ [name]: machine("worker", "m") }),
            after: cluster({}, { steps }),
          },
        ]);
        const lines = renderMarkdown(review(text)).split("\n");
        const table = lines.filter((line) => line.startsWith("| add"));
        expect(table).toHaveLength(1);
        expect(table[0]?.replaceAll("\\|", "").match(/\|/g)).toHaveLength(5);
        const finding = lines.find((line) => line.includes("Disk wiped")) ?? "";
        expect(finding.slice(finding.indexOf(": "))).not.toMatch(/[@<`]/);
      }),
    );
  });
});

describe("what is no plan", () => {
  const cases: readonly [string, string, RegExp][] = [
    ["a binary plan", "PK\u0003\u0004", /plan\.json: this is not JSON/],
    ["a state", JSON.stringify({ version: 4, resources: [] }), /not a plan in JSON: format_version/],
    ["a format of the future", JSON.stringify({ format_version: "2.0" }), /format_version/],
    [
      "an action that we do not know",
      planOf([{ address: "a.b", actions: ["explode"] }]),
      /resource_changes\.0\.change\.actions\.0/,
    ],
  ];
  test.each(cases)("%s is refused with the way to make one", (_name, text, message) => {
    expect(() => parsePlan(text, "plan.json")).toThrow(message);
    expect(() => parsePlan(text, "plan.json")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("show -json") }),
    );
  });
});

test.each<[string, Values, Values, readonly PlannedChange[]]>([
  ["by trust on first use", { trust_on_first_use: true }, {}, []],
  ["by user-data", { talos_endpoints: ["10.0.0.9"] }, {}, []],
  ["by user-data", {}, { talos_endpoints: true }, []],
  [
    "by user-data",
    {},
    {},
    [{ address: "talosmith_cloud_init.cp_1", actions: ["create"], after: { machine_config: { name: "prod" } } }],
  ],
  ["to pinned fingerprints only", {}, {}, []],
])("a first deploy says how machines get their initial config: %s", (words, values, unknown, others) => {
  const created = { address: "talosmith_cluster.cluster", actions: ["create"], after: cluster(three, values), unknown };
  expect(renderMarkdown(review(planOf([created, ...others])))).toContain(`initial config ${words}`);
});
