// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { allEnvironments, instancesOf, machinesOf, type StackJson, stackOf, withSynth } from "./project.ts";

const aws = (more: string, rest = "controlPlane: { count: 3 }\nworkers: [{ count: 2 }]\n") =>
  stackOf(`infrastructure:\n  kind: aws\n  region: eu-central-1\n${more.replaceAll(/^/gm, "  ")}\n${rest}`);
const subnets = (mark: string) => [1, 2, 3].map((zone) => `subnet-${mark.repeat(16)}${zone}`).join(", ");
const withAdmins = "adminCidrs: [198.51.100.0/24]";

interface Rule {
  readonly security_group_id: string;
  readonly ip_protocol: string;
  readonly from_port?: number;
  readonly to_port?: number;
  readonly cidr_ipv4?: string;
  readonly referenced_security_group_id?: string;
}
const rules = (stack: StackJson) =>
  Object.entries((stack.resource.aws_vpc_security_group_ingress_rule ?? {}) as unknown as Record<string, Rule>);
const opens = (rule: Rule, port: number) => (rule.from_port ?? 0) <= port && port <= (rule.to_port ?? 65_535);
const peer = (reference: string | undefined) => /allow_(\w+)\.id/.exec(reference ?? "")?.[1];
/** `target ← source` for a port, sources by group or network. */
const whoReaches = (stack: StackJson, port: number) =>
  rules(stack)
    .filter(([, rule]) => opens(rule, port))
    .map(([, rule]) => `${peer(rule.security_group_id)} ← ${peer(rule.referenced_security_group_id) ?? rule.cidr_ipv4}`)
    .sort();
const cluster = (stack: StackJson) => stack.resource.talosmith_cluster?.cluster;
/** Subnets of a pool's machines, in the order of the machines. */
const subnetsOf = (stack: StackJson, pool: string) => {
  expect(stack.resource.aws_instance?.[pool]).toMatchObject({
    for_each: `\${local.${pool}}`,
    subnet_id: "${each.value.subnet_id}",
  });
  const subnetIds = Object.values(stack.locals?.[pool] ?? {}).map((row) => String(row.subnet_id));
  return subnetIds.map((id) => /^\$\{aws_subnet\.(\w+)\.id\}$/.exec(id)?.[1]);
};
const stacks = allEnvironments()
  .map(({ name, root }) => ({ name, stack: withSynth(root, [name], (_, text) => JSON.parse(text(name)) as StackJson) }))
  .filter(({ stack }) => stack.resource.aws_lb !== undefined);

describe("every AWS stack of the repository", () => {
  it.each(stacks)("$name never opens the Talos API, etcd, trustd or the kubelet to the world", ({ stack }) => {
    for (const [name, rule] of rules(stack)) {
      if (rule.cidr_ipv4 !== "0.0.0.0/0") continue;
      for (const port of [50000, 50001, 2379, 2380, 10250, 22]) expect(opens(rule, port), name).toBe(false);
    }
  });

  it.each(stacks)(
    "$name opens the Kubernetes API to the world only if asked for in so many words",
    ({ name, stack }) => {
      const world = rules(stack).filter(([, rule]) => rule.cidr_ipv4 === "0.0.0.0/0");
      expect(world.map(([id]) => id)).toEqual(
        name === "aws-existing-vpc" ? ["allow_load_balancer_kubernetes_anywhere_1"] : [],
      );
    },
  );

  it.each(stacks)("$name encrypts every disk and asks for IMDSv2 with one hop", ({ stack }) => {
    const {
      aws_instance: instances = {},
      aws_launch_template: templates = {},
      aws_ebs_volume: volumes = {},
    } = stack.resource;
    for (const body of [...Object.values(instances), ...Object.values(templates)])
      expect(body.metadata_options).toMatchObject({ http_tokens: "required", http_put_response_hop_limit: 1 });
    for (const body of Object.values(instances))
      expect(body.root_block_device).toMatchObject({ encrypted: true, volume_type: "gp3" });
    for (const body of Object.values(templates))
      for (const device of body.block_device_mappings as { ebs: object }[])
        expect(device.ebs).toMatchObject({ encrypted: "true" });
    for (const body of Object.values(volumes)) expect(body).toMatchObject({ encrypted: true, type: "gp3" });
  });

  it.each(stacks)("$name lets nothing out to the world but HTTPS, time and the Kubernetes API", ({ stack }) => {
    const out = Object.values(
      (stack.resource.aws_vpc_security_group_egress_rule ?? {}) as unknown as Record<string, Rule>,
    );
    const ports = out.filter((rule) => rule.cidr_ipv4 === "0.0.0.0/0").map((rule) => rule.from_port);
    expect([...new Set(ports)].filter((port) => port === undefined || ![443, 123, 6443].includes(port))).toEqual([]);
  });

  it.each(stacks)("$name keeps its load balancer usable from its own targets", ({ stack }) => {
    for (const group of Object.values(stack.resource.aws_lb_target_group ?? {}))
      expect(group.preserve_client_ip).toBe("false");
  });
});

describe("the ports between machines", () => {
  const stack = aws(withAdmins);
  it.each([
    [2379, ["control_plane ← control_plane"]],
    [2380, ["control_plane ← control_plane"]],
    [50001, ["control_plane ← control_plane", "control_plane ← worker"]],
    [10250, ["control_plane ← control_plane", "control_plane ← worker", "worker ← control_plane", "worker ← worker"]],
    [4789, ["control_plane ← control_plane", "control_plane ← worker", "worker ← control_plane", "worker ← worker"]],
    [
      50000,
      [
        "control_plane ← control_plane",
        "control_plane ← load_balancer",
        "load_balancer ← 198.51.100.0/24",
        "worker ← control_plane",
      ],
    ],
    [22, []],
    [30000, []],
  ])("let only the right ones to %i", (port, expected) => {
    expect(whoReaches(stack, port)).toEqual(expected);
  });
});

it("opens a port to a network once, however often it is named: AWS refuses the same rule twice", () => {
  const vpc = `{ id: vpc-0123456789abcdef0, cidr: 10.0.0.0/16, natCidrs: [198.51.100.0/24], publicSubnetIds: [${subnets("a")}], privateSubnetIds: [${subnets("b")}] }`;
  const stack = aws(`adminCidrs: [198.51.100.0/24, 203.0.113.0/24, 198.51.100.0/24]\nvpc: ${vpc}`);
  for (const port of [6443, 50000]) {
    const from = whoReaches(stack, port).filter((line) => line.startsWith("load_balancer"));
    expect(from).toEqual(["load_balancer ← 198.51.100.0/24", "load_balancer ← 203.0.113.0/24"]);
  }
});

describe("access to the Talos API", () => {
  it("public: machines have public addresses, and administrators reach them there", () => {
    const stack = aws(`${withAdmins}\naccess: public\ntrustOnFirstUse: true`);
    expect(stack.resource.aws_instance?.control_plane).toMatchObject({ associate_public_ip_address: true });
    expect(subnetsOf(stack, "control_plane")).toEqual(["public_1", "public_2", "public_3"]);
    for (const addresses of [cluster(stack)?.machines, stack.resource.talosmith_client_files?.client?.endpoints])
      expect(addresses).toContain("aws_instance.control_plane[key].public_ip");
    expect(JSON.stringify(stack.resource)).not.toContain("private_ip");
    expect(whoReaches(stack, 50000)).toContain("control_plane ← 198.51.100.0/24");
    expect(stack.resource.aws_nat_gateway).toBeUndefined();
    expect(cluster(stack)).toMatchObject({ trust_on_first_use: true });
    expect(stack.resource.aws_instance?.control_plane).not.toHaveProperty("user_data_base64");
  });

  it("nlb: machines are private, start from user-data and are reached through the load balancer", () => {
    const stack = aws(withAdmins);
    // One machine, for the balancer is none.
    expect(stack.resource.talosmith_client_files?.client?.nodes).toMatch(
      /^\$\{slice\([\s\S]*private_ip[\s\S]*0,\s+1,?\s*\)\}$/,
    );
    expect(stack.resource.aws_instance?.control_plane).toMatchObject({
      associate_public_ip_address: false,
      user_data_base64: "${base64gzip(data.talosmith_machine_config.control_plane_config.config)}",
    });
    expect(cluster(stack)?.talos_endpoints).toEqual(["${aws_lb.api.dns_name}"]);
    expect(stack.resource.aws_lb?.api).toMatchObject({ internal: false });
    expect(Object.keys(stack.resource.aws_lb_listener ?? {})).toEqual([
      "api_kubernetes_listener",
      "api_talos_listener",
    ]);
  });

  it("private: nothing is on the internet, and the tunnel is where the Talos API is", () => {
    const stack = aws("access: private\ntalosEndpoints: [127.0.0.1]");
    expect(stack.resource.aws_lb?.api).toMatchObject({ internal: true });
    expect(whoReaches(stack, 6443)).toEqual([
      "control_plane ← control_plane",
      "control_plane ← load_balancer",
      "control_plane ← worker",
      "load_balancer ← control_plane",
      "load_balancer ← worker",
    ]);
    expect(cluster(stack)?.talos_endpoints).toEqual(["127.0.0.1"]);
  });

  it("checks user-data against EC2's 16 KiB while it is only planned", () => {
    const lifecycle = aws(withAdmins).resource.aws_instance?.control_plane?.lifecycle as {
      precondition: { condition: string }[];
    };
    expect(lifecycle.precondition[0]?.condition).toBe(
      "${(length(base64gzip(data.talosmith_machine_config.control_plane_config.config)) <= 21848)}",
    );
  });
});

describe("machines and network", () => {
  it("spreads control planes over the zones", () => {
    expect(subnetsOf(aws(withAdmins), "control_plane")).toEqual(["private_1", "private_2", "private_3"]);
  });

  it("gives subnets that do not overlap, for every size of VPC that is allowed", () => {
    for (const prefix of [16, 18, 20, 22]) {
      const stack = aws(`${withAdmins}\nzones: 6\nvpc: { cidr: 10.64.0.0/${prefix} }`);
      const blocks = Object.values(stack.resource.aws_subnet ?? {}).map((subnet) => String(subnet.cidr_block));
      expect(new Set(blocks).size).toBe(12);
    }
  });

  it("attaches a machine's disks before it joins, and detaches them only after it has left", () => {
    const rest = "controlPlane: { count: 1 }\nworkers: [{ name: db, count: 1, extraDisks: [{ size: 10GiB }] }]\n";
    const { resource } = aws(withAdmins, rest);
    expect(resource.talosmith_member?.db?.depends_on).toContain("aws_volume_attachment.db_data_1_attachment");
    expect(resource.aws_volume_attachment?.db_data_1_attachment).toMatchObject({
      for_each: resource.aws_instance?.db?.for_each,
      instance_id: "${aws_instance.db[each.key].id}",
      volume_id: "${aws_ebs_volume.db_data_1[each.key].id}",
    });
  });

  it("needs no workers, and takes auto scaling groups of them", () => {
    const alone = aws(withAdmins, "controlPlane: { count: 1 }\n");
    expect([...instancesOf(alone).keys()].filter((address) => address.startsWith("aws_instance."))).toEqual([
      'aws_instance.control_plane["cp-1"]',
    ]);
    const stack = aws(
      withAdmins,
      "controlPlane: { count: 1 }\nworkers: [{ name: burst, count: 0, scaling: { min: 0, max: 9 } }]\n",
    );
    expect(stack.resource.aws_autoscaling_group?.burst).toMatchObject({
      min_size: 0,
      max_size: 9,
      desired_capacity: 0,
    });
    expect(Object.keys(machinesOf(stack))).toEqual(["sample-cp-1"]);
  });

  it.each([
    ["dns: { zone: example.com }", "k8s.sample.example.com"],
    ["dns: { zone: example.com, label: prod }", "k8s.prod.example.com"],
    ['dns: { zone: example.com, label: "" }', "k8s.example.com"],
    ["dns: { zone: example.com, name: api }", "api.sample.example.com"],
  ])("names the API by %s", (dns, name) => {
    const stack = aws(`${withAdmins}\n${dns}`);
    expect(stack.resource.aws_route53_record?.dns?.name).toBe(name);
    expect(stack.output.cluster_endpoint?.value).toBe(`https://${name}:6443`);
  });

  it("gives load balancers of clusters with long, nearly equal names names of their own, within AWS's 32 characters", () => {
    const names = ["my-company-production-eu-1", "my-company-production-eu-2"].map(
      (cluster) =>
        aws(withAdmins, `controlPlane: { count: 1 }\ncluster: { name: ${cluster} }\n`).resource.aws_lb?.api?.name,
    );
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(String(name)).toMatch(/^[a-z0-9-]{1,32}$/);
  });

  it.each(["sg-production", "internal-tools", "internal-tools-of-the-platform-team"])(
    "gives the cluster %s names that AWS takes",
    (name) => {
      const { resource } = aws(withAdmins, `controlPlane: { count: 1 }\ncluster: { name: ${name} }\n`);
      const named = (types: readonly string[]) =>
        types.flatMap((type) => Object.values(resource[type] ?? {}).map((body) => String(body.name)));
      for (const group of named(["aws_security_group"])) expect(group).not.toMatch(/^sg-/);
      for (const balancer of named(["aws_lb", "aws_lb_target_group"])) {
        expect(balancer).not.toMatch(/^internal-/);
        expect(balancer).toMatch(/^[a-z0-9-]{1,32}$/);
      }
    },
  );

  it("calls the API by the load balancer's name without DNS", () => {
    expect(aws(withAdmins).output.cluster_endpoint?.value).toBe("https://${aws_lb.api.dns_name}:6443");
  });

  it("finds the image by owner, release, region and architecture, and keeps running machines on theirs", () => {
    const stack = aws(`${withAdmins}\narchitecture: arm64`);
    expect(stack.data?.aws_ami?.image).toMatchObject({
      owners: ["540036508848"],
      filter: [{ name: "name", values: ["talos-v1.13.9-eu-central-1-arm64"] }],
    });
    expect(stack.resource.aws_instance?.control_plane).toMatchObject({
      instance_type: "t4g.large",
      lifecycle: { ignore_changes: ["ami", "user_data_base64"] },
    });
  });

  it.each([
    ["", true],
    ["deletionProtection: true", undefined],
  ])("lets a destroy empty the log of the backups with %j, but never the backups, which go first", (more, emptied) => {
    const { backups, backups_logs: logs } = aws(`${withAdmins}\n${more}`).resource.aws_s3_bucket ?? {};
    expect(logs?.force_destroy).toBe(emptied);
    expect(backups).not.toHaveProperty("force_destroy");
    expect(backups?.depends_on).toEqual(["aws_s3_bucket.backups_logs"]);
  });

  it("gives no role more than it needs: no wildcard actions, and writes only to what is tagged or named", () => {
    const stack = aws(withAdmins);
    for (const [id, { policy }] of Object.entries(stack.resource.aws_iam_role_policy ?? {})) {
      const { Statement } = JSON.parse(String(policy)) as {
        Statement: { Action: string | string[]; Resource: string | string[] }[];
      };
      for (const { Action, Resource } of Statement) {
        const actions = [Action].flat();
        expect(
          actions.filter((action) => action.includes("*")),
          id,
        ).toEqual([]);
        if (Resource === "*")
          expect(
            actions.filter((action) => !/:(Describe|List|Get)/.test(action)),
            id,
          ).toEqual([]);
      }
    }
    expect(Object.keys(stack.resource.aws_iam_role_policy ?? {}).filter((id) => id.startsWith("worker"))).toEqual([]);
  });
});

describe("pools of two architectures", () => {
  const stack = stackOf(`
infrastructure: { kind: aws, region: eu-central-1, adminCidrs: [203.0.113.0/24] }
controlPlane: { count: 1 }
workers:
  - { name: arm, count: 1, architecture: arm64 }
  - { name: own, count: 1, ami: ami-0123456789abcdef0 }
`);

  it("take the image and the usual instance type of their own", () => {
    const { control_plane: plane, arm, own } = stack.resource.aws_instance ?? {};
    expect(plane).toMatchObject({ ami: "${data.aws_ami.image.id}", instance_type: "t3.large" });
    expect(arm).toMatchObject({ ami: "${data.aws_ami.image_arm64.id}", instance_type: "t4g.large" });
    expect(own).toMatchObject({ ami: "ami-0123456789abcdef0" });
    expect(JSON.stringify(stack.data?.aws_ami?.image_arm64)).toContain("-arm64");
  });
});
