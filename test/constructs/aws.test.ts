// SPDX-License-Identifier: Apache-2.0
import { Testing } from "cdktn";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { AwsInfrastructure, TalosCluster, TalosStack } from "../../constructs/index.ts";
import { awsAddons } from "../../model/index.ts";
import { allEnvironments, instancesOf, machinesOf, type StackJson, stackOf, withSynth } from "./project.ts";

const aws = (more: string, rest = "controlPlane: { count: 3 }\nworkers: [{ count: 2 }]\n") =>
  stackOf(`infrastructure:\n  kind: aws\n  region: eu-central-1\n${more.replaceAll(/^/gm, "  ")}\n${rest}`);
const small = "controlPlane: { count: 1 }\n";
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

  it.each(stacks)(
    "$name encrypts every disk and asks for IMDSv2, with one hop unless the EBS driver needs two",
    ({ stack }) => {
      const {
        aws_instance: instances = {},
        aws_launch_template: templates = {},
        aws_ebs_volume: volumes = {},
      } = stack.resource;
      const driver = stack.resource.talosmith_addon?.addon_aws_ebs_csi_driver !== undefined;
      for (const [name, body] of [...Object.entries(instances), ...Object.entries(templates)]) {
        const hops = driver && name === "control_plane" ? 2 : 1;
        expect(body.metadata_options).toMatchObject({ http_tokens: "required", http_put_response_hop_limit: hops });
      }
      for (const body of Object.values(instances))
        expect(body.root_block_device).toMatchObject({ encrypted: true, volume_type: "gp3" });
      for (const body of Object.values(templates))
        for (const device of body.block_device_mappings as { ebs: object }[])
          expect(device.ebs).toMatchObject({ encrypted: "true" });
      for (const body of Object.values(volumes)) expect(body).toMatchObject({ encrypted: true, type: "gp3" });
    },
  );

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
      expect(addresses).toContain("aws_eip.control_plane_address[key].public_ip");
    expect(cluster(stack)?.machines).toContain("aws_instance.worker[key].public_ip");
    expect(stack.resource.aws_eip?.control_plane_address).toMatchObject({
      for_each: "${local.control_plane}",
      instance: "${aws_instance.control_plane[each.key].id}",
    });
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

  it("keeps the subnets of a zone, whatever other zones there are", () => {
    const subnet = (zones: string, id: string) => aws(`${withAdmins}\nzones: ${zones}`).resource.aws_subnet?.[id];
    const all = "[eu-central-1a, eu-central-1b, eu-central-1c]";
    for (const id of ["public_3", "private_3"])
      expect(subnet("[eu-central-1c, eu-central-1a]", id)).toEqual(subnet(all, id));
  });

  it("keeps a pool to its zones, fixed or scaling", () => {
    const zones = "zones: [eu-central-1c, eu-central-1b]";
    const scaling = `{ name: burst, count: 1, scaling: { min: 0, max: 3 }, ${zones} }`;
    const stack = aws(withAdmins, `controlPlane: { count: 1 }\nworkers: [{ count: 3, ${zones} }, ${scaling}]\n`);
    expect(subnetsOf(stack, "worker")).toEqual(["private_3", "private_2", "private_3"]);
    expect(stack.resource.aws_autoscaling_group?.burst?.vpc_zone_identifier).toEqual([
      "${aws_subnet.private_3.id}",
      "${aws_subnet.private_2.id}",
    ]);
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

  it("lets the engine and an autoscaler find what a group starts, in the order of the template, the group and the cluster", () => {
    const pool =
      "{ name: burst, count: 1, scaling: { min: 0, max: 9 }, labels: { team: a }, taints: { gpu: NoSchedule } }";
    const stack = aws(withAdmins, `controlPlane: { count: 1 }\nworkers: [${pool}]\n`);
    const group = stack.resource.aws_autoscaling_group?.burst;
    const tags = (group?.tag ?? []) as readonly { key: string; value: string; propagate_at_launch: boolean }[];
    const prefix = "k8s.io/cluster-autoscaler";
    expect(tags.filter((tag) => tag.key.startsWith(prefix)).map(({ key, value }) => [key, value])).toEqual([
      [`${prefix}/enabled`, "true"],
      [`${prefix}/sample`, "owned"],
      [`${prefix}/node-template/label/team`, "a"],
      [`${prefix}/node-template/label/talosmith.internal/pool`, "burst"],
      [`${prefix}/node-template/taint/gpu`, ":NoSchedule"],
    ]);
    expect(tags.filter((tag) => tag.propagate_at_launch).map(({ key }) => key)).toEqual([
      "Name",
      "kubernetes.io/cluster/sample",
    ]);
    // Nothing else than the autoscaler, which drains, may terminate a machine.
    expect(group).toMatchObject({ suspended_processes: ["AZRebalance"], wait_for_capacity_timeout: "0" });
    const { scaling_pools: pools, depends_on: after } = cluster(stack) as unknown as Record<string, unknown>;
    expect(after).toContain("aws_autoscaling_group.burst");
    // What a machine starts with is what the engine compares it with.
    const started = stack.data?.talosmith_machine_config?.burst_config as unknown as Record<string, unknown>;
    expect(pools).toEqual({ burst: { patches: started.patches } });
    expect(JSON.stringify(started.patches)).toContain("talosmith.internal/pool: burst");
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

  it("keeps a machine that lost or got its public address outside of Terraform, which AWS's provider would replace", () => {
    for (const more of ["access: public\ntrustOnFirstUse: true", "access: nlb"]) {
      const { control_plane: plane, worker } = aws(`${withAdmins}\n${more}`).resource.aws_instance ?? {};
      for (const lifecycle of [plane?.lifecycle, worker?.lifecycle])
        expect(lifecycle).toMatchObject({ ignore_changes: expect.arrayContaining(["associate_public_ip_address"]) });
    }
  });

  it("finds the image by owner, release, region and architecture, and keeps running machines on theirs", () => {
    const stack = aws(`${withAdmins}\narchitecture: arm64`);
    expect(stack.data?.aws_ami?.image).toMatchObject({
      owners: ["540036508848"],
      filter: [{ name: "name", values: ["talos-v1.13.9-eu-central-1-arm64"] }],
    });
    expect(stack.resource.aws_instance?.control_plane).toMatchObject({
      instance_type: "t4g.large",
      lifecycle: { ignore_changes: expect.arrayContaining(["ami", "subnet_id", "user_data_base64"]) },
    });
  });

  it.each([
    ["", true],
    ["deletionProtection: true", undefined],
  ])("lets a destroy empty the log of the backups with %j, but never the backups, which go first", (more, emptied) => {
    const { backups, backups_logs: logs } =
      aws(`${withAdmins}\n${more}`, `${small}backup: {}\n`).resource.aws_s3_bucket ?? {};
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

describe("the ports of the pod network", () => {
  const addon = (chart: string) =>
    `cluster: { cni: none }\naddons: [{ name: net, chart: ${chart}, repository: https://example.com, cni: true }]\n`;
  const urls = (url: string) => `cluster: { cni: { urls: [${url}] } }\n`;
  const open = (stack: StackJson) =>
    rules(stack)
      .filter(([id]) => id.startsWith("allow_worker_") && id.endsWith("_from_worker"))
      .map(([, { ip_protocol, from_port }]) => [ip_protocol, from_port].filter((part) => part !== undefined).join(" "))
      .filter((port) => port !== "tcp 10250")
      .sort();
  const cilium = ["icmp 8", "tcp 4240", "tcp 4244", "udp 51871", "udp 6081", "udp 8472"];
  const calico = ["4", "tcp 179", "tcp 5473", "udp 4789", "udp 51820"];
  it.each([
    ["", ["udp 4789"]],
    ["cluster: { kubespan: true }\n", ["udp 4789", "udp 51820"]],
    [addon("cilium"), cilium],
    [addon("tigera-operator"), calico],
    [urls("https://example.com/calico.yaml"), calico],
    [addon("tigera-operator").replace("cni: none", "cni: none, kubespan: true"), calico],
    ["cluster: { cni: none }\n", [...cilium, ...calico].sort()],
  ])("of %j are open between machines, and no others", (rest, expected) => {
    expect(open(aws(withAdmins, `${small}${rest}`))).toEqual(expected);
  });
});

it("asks for account and partition only where something is named after them", () => {
  const asked = (more: string, rest = small) =>
    Object.keys(aws(`${withAdmins}\n${more}`, rest).data ?? {}).filter((type) => /caller|partition/.test(type));
  expect(asked("")).toEqual([]);
  expect(asked("iam: { worker: { instanceProfile: own } }", `${small}workers: [{ count: 1 }]\n`)).toEqual([]);
  for (const more of ["flowLogs: true", "ebsCsi: true"])
    expect(asked(more).sort()).toEqual(["aws_caller_identity", "aws_partition"]);
});

describe("what a team adds", () => {
  const rule = (way: "ingress" | "egress", settings: string) =>
    aws(`${withAdmins}\nsecurityGroupRules: { ${way}: [{ description: mine, ${settings} }] }`).resource[
      `aws_vpc_security_group_${way}_rule`
    ];
  it("to security groups is a rule for each group and network, named by what it opens", () => {
    const made = rule("ingress", "ports: 30000-32767, cidrs: [10.8.0.0/16, 10.9.0.0/16]") ?? {};
    expect(Object.keys(made).filter((id) => id.includes("own"))).toEqual(
      ["control_plane", "worker"].flatMap((peer) =>
        ["8", "9"].map((net) => `allow_${peer}_own_ingress_tcp_30000_32767_10_${net}_0_0_16`),
      ),
    );
    expect(made.allow_worker_own_ingress_tcp_30000_32767_10_8_0_0_16).toMatchObject({
      security_group_id: "${aws_security_group.allow_worker.id}",
      description: "mine",
      ip_protocol: "tcp",
      from_port: 30000,
      to_port: 32767,
      cidr_ipv4: "10.8.0.0/16",
    });
    const out = rule("egress", "machines: worker, protocol: all, cidrs: [0.0.0.0/0]") ?? {};
    expect(out.allow_worker_own_egress_all_0_0_0_0_0).toMatchObject({ ip_protocol: "-1", cidr_ipv4: "0.0.0.0/0" });
    expect(out.allow_worker_own_egress_all_0_0_0_0_0).not.toHaveProperty("from_port");
  });

  it.each([
    ["ports: 50000, cidrs: [0.0.0.0/0]", "ingress[0].cidrs"],
    ["protocol: all, cidrs: [0.0.0.0/0]", "ingress[0].cidrs"],
    ["cidrs: [10.0.0.0/8]", "ingress[0]"],
    ["protocol: icmp, ports: 8, cidrs: [10.0.0.0/8]", "ingress[0]"],
  ])("is refused with %s", (settings, place) => {
    expect(() => rule("ingress", settings)).toThrow(`infrastructure.securityGroupRules.${place}\n`);
  });

  it("to roles is attached to them, or takes their place", () => {
    const { resource } = aws(
      `${withAdmins}\niam: { controlPlane: { policyArns: [arn:aws:iam::aws:policy/ReadOnlyAccess] }, worker: { instanceProfile: own } }`,
      `${small}workers: [{ count: 1 }, { name: burst, count: 1, scaling: { min: 0, max: 2 } }]\n`,
    );
    expect(resource.aws_iam_role_policy_attachment).toMatchObject({
      control_plane_attached_ReadOnlyAccess: {
        role: "${aws_iam_role.control_plane.name}",
        policy_arn: "arn:aws:iam::aws:policy/ReadOnlyAccess",
      },
    });
    expect(Object.keys(resource.aws_iam_role ?? {})).toEqual(["control_plane"]);
    expect(resource.aws_instance?.worker).toMatchObject({ iam_instance_profile: "own" });
    expect(resource.aws_launch_template?.burst_template?.iam_instance_profile).toEqual({
      arn: "arn:${data.aws_partition.partition.partition}:iam::${data.aws_caller_identity.account.account_id}:instance-profile/own",
    });
  });

  it("as a key encrypts every disk, and tags are on all that an auto scaling group makes", () => {
    const key = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd";
    const { resource } = aws(
      `${withAdmins}\nvolumeKmsKey: ${key}\ntags: { team: a }`,
      `${small}workers: [{ count: 1, extraDisks: [{ size: 1GiB }] }, { name: burst, count: 1, scaling: { min: 0, max: 2 } }]\n`,
    );
    const { burst_template: template } = resource.aws_launch_template ?? {};
    expect(resource.aws_instance?.worker?.root_block_device).toMatchObject({ kms_key_id: key });
    expect(resource.aws_ebs_volume?.worker_data_1).toMatchObject({
      kms_key_id: key,
      lifecycle: { ignore_changes: ["kms_key_id"] },
    });
    expect(template?.block_device_mappings).toMatchObject([{ ebs: { kms_key_id: key } }]);
    expect(template?.tag_specifications).toMatchObject(
      ["instance", "volume"].map((resource_type) => ({ resource_type, tags: { team: "a" } })),
    );
    expect(resource.aws_autoscaling_group?.burst?.tag).toContainEqual({
      key: "team",
      value: "a",
      propagate_at_launch: true,
    });
  });

  it.each([
    ["createZone: true", "resource", { vpc: { vpc_id: "${aws_vpc.vpc.id}" } }],
    ["createZone: false", "data", { private_zone: true, vpc_id: "${aws_vpc.vpc.id}" }],
  ] as const)("as a private zone, with %s, is one of the VPC", (more, kind, expected) => {
    const stack = aws(
      `access: private\ntalosEndpoints: [127.0.0.1]\ndns: { zone: example.internal, private: true, ${more} }`,
      small,
    );
    expect(stack[kind]?.aws_route53_zone?.dns_zone).toMatchObject({ name: "example.internal", ...expected });
  });
});

it("reaches S3 without a NAT gateway, from every subnet that is made", () => {
  const { resource } = aws(`${withAdmins}\nvpc: { natGateways: per-zone }`);
  expect(resource.aws_vpc_endpoint?.s3).toMatchObject({
    service_name: "com.amazonaws.eu-central-1.s3",
    vpc_endpoint_type: "Gateway",
  });
  const tables = Object.keys(resource.aws_route_table ?? {}).map((id) => `\${aws_route_table.${id}.id}`);
  expect([resource.aws_vpc_endpoint?.s3?.route_table_ids].flat().sort()).toEqual(tables.sort());
});

describe("the provider block", () => {
  const provider = (more: string, rest?: string) => aws(`${withAdmins}\n${more}`, rest).provider.aws?.[0];
  it.each([
    ["", {}],
    ["tags: { team: a }", { default_tags: { tags: { team: "a" } } }],
    ["provider: { profile: dev }", { profile: "dev" }],
    ['provider: { allowedAccountIds: ["111122223333"] }', { allowed_account_ids: ["111122223333"] }],
    [
      "provider: { assumeRole: { roleArn: arn:aws:iam::111122223333:role/deploy, sessionName: ci, externalId: x1 } }",
      { assume_role: { role_arn: "arn:aws:iam::111122223333:role/deploy", session_name: "ci", external_id: "x1" } },
    ],
  ])("with %j has %j", (more, expected) => {
    expect(provider(more)).toEqual({ region: "eu-central-1", ...expected });
  });

  it("lends its profile to the backups that go into the bucket", () => {
    const stack = aws(`${withAdmins}\nprovider: { profile: dev }`, `${small}backup: {}\n`);
    expect(stack.resource.talosmith_etcd_snapshot?.backup?.s3).toMatchObject({ profile: "dev" });
  });

  it.each(["{ allowedAccountIds: [111122223333] }", "{ assumeRole: { roleArn: deploy } }", "{ accessKey: x }"])(
    "refuses %s",
    (settings) => {
      expect(() => provider(`provider: ${settings}`)).toThrow("infrastructure.provider");
    },
  );
});

describe("backups", () => {
  interface Policy {
    readonly Statement: readonly { readonly Action: string | readonly string[] }[];
  }
  const actions = ({ resource }: StackJson) => {
    const policy = resource.aws_iam_role_policy?.control_plane_backups?.policy;
    return (JSON.parse(String(policy)) as Policy).Statement.flatMap(({ Action }) => Action);
  };

  const lifecycle = ({ resource }: StackJson) =>
    resource.aws_s3_bucket_lifecycle_configuration?.backups_lifecycle?.rule;

  it("make no bucket and no key without a section backup, nor with a place of their own", () => {
    for (const rest of ["", "backup: { directory: backups }\n", "backup: { s3: { bucket: example } }\n"]) {
      const { resource, output } = aws(withAdmins, `${small}${rest}`);
      expect([resource.aws_s3_bucket, resource.aws_kms_key, output.backup_bucket]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(resource.aws_iam_role_policy ?? {}).not.toHaveProperty("control_plane_backups");
    }
  });

  it("go into a bucket that is made with the cluster, once it encrypts them", () => {
    const { resource, output } = aws(withAdmins, `${small}backup: {}\n`);
    const bucket = "${aws_s3_bucket_server_side_encryption_configuration.backups_encryption.bucket}";
    expect(resource.talosmith_etcd_snapshot?.backup?.s3).toEqual({ bucket, prefix: "sample", region: "eu-central-1" });
    expect(output.backup_bucket?.value).toBe(bucket);
  });

  it("are deleted by those who prune them alone: control planes may delete only then, and S3 never by default", () => {
    const kept = aws(withAdmins, `${small}backup: {}\n`);
    const pruned = aws(withAdmins, `${small}backup: { keep: { age: 90d } }\n`);
    expect(actions(kept)).not.toContain("s3:DeleteObject");
    expect(actions(pruned)).toContain("s3:DeleteObject");
    for (const stack of [kept, pruned]) {
      expect(lifecycle(stack)).toMatchObject([{ noncurrent_version_expiration: { noncurrent_days: 30 } }]);
      expect(lifecycle(stack)).not.toMatchObject([{ expiration: {} }]);
    }
  });

  it("expire in S3 where the file says so", () => {
    const stack = aws(`${withAdmins}\nbackups: { expireDays: 90 }`, `${small}backup: { keep: { age: 90d } }\n`);
    expect(lifecycle(stack)).toMatchObject([{ expiration: { days: 90 } }]);
  });

  it.each([
    ["", "infrastructure.backups"],
    ["backup: { directory: backups }\n", "infrastructure.backups"],
    ["backup: { keep: { age: 91d } }\n", "infrastructure.backups.expireDays"],
    ["backup: { keep: { count: 3 } }\n", "infrastructure.backups.expireDays"],
  ])("are refused with expireDays: 90 and %j", (rest, place) => {
    expect(() => aws(`${withAdmins}\nbackups: { expireDays: 90 }`, `${small}${rest}`)).toThrow(`${place}\n`);
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

describe("the cloud controller manager and the EBS CSI driver", () => {
  interface AddonJson {
    readonly values: readonly [string];
    readonly depends_on: readonly string[];
  }
  const addons = (stack: StackJson) =>
    (stack.resource.talosmith_addon ?? {}) as unknown as Readonly<Record<string, AddonJson | undefined>>;
  const policies = (stack: StackJson) => Object.keys(stack.resource.aws_iam_role_policy ?? {});
  const hops = (stack: StackJson, pool: string) => {
    const options = stack.resource.aws_instance?.[pool]?.metadata_options;
    return (options as { readonly http_put_response_hop_limit: number } | undefined)?.http_put_response_hop_limit;
  };
  const rest =
    "controlPlane: { count: 3 }\nworkers: [{ count: 2 }, { name: burst, count: 1, scaling: { min: 0, max: 9 } }]";
  const switched = (more: string, others = rest) => aws(`${withAdmins}\n${more}`, others);

  it("are left out by default, with all that they need", () => {
    const stack = aws(withAdmins);
    expect(addons(stack)).toEqual({});
    expect(policies(stack)).toEqual([]);
    expect(cluster(stack)).not.toHaveProperty("external_cloud_provider");
    expect(cluster(stack)?.machines).not.toContain("provider_id");
    expect(hops(stack, "control_plane")).toBe(1);
  });

  it("cloudControllerManager: nodes wait for it, and are known to AWS by their ids", () => {
    const stack = switched("cloudControllerManager: true");
    expect(cluster(stack)).toMatchObject({ external_cloud_provider: true });
    expect(cluster(stack)?.machines).toContain(
      '"aws:///${aws_instance.worker[key].availability_zone}/${aws_instance.worker[key].id}"',
    );
    // One that comes by itself has the same config as all of its group: the node's name has to tell who it is.
    expect(stack.data?.talosmith_machine_config?.burst_config).toMatchObject({ external_cloud_provider: true });
    expect(stack.resource.aws_launch_template?.burst_template).toMatchObject({
      private_dns_name_options: { hostname_type: "resource-name" },
    });
    expect(policies(stack)).toContain("control_plane_cloud_controller");
    expect(addons(stack).addon_aws_cloud_controller_manager).toMatchObject({
      namespace: "kube-system",
      repository: "https://kubernetes.github.io/cloud-provider-aws",
      version: "0.0.11",
    });
    expect(parse(addons(stack).addon_aws_cloud_controller_manager?.values[0] ?? "")).toMatchObject({
      hostNetworking: true,
      args: expect.arrayContaining(["--cloud-provider=aws", "--configure-cloud-routes=false"]),
    });
    expect(hops(stack, "control_plane")).toBe(1);
  });

  it.each([
    ["1.30.4", "v1.31.9"],
    ["1.35.1", "v1.35.2"],
    ["1.36.3", "v1.36.1"],
    ["1.37.0", "v1.36.1"],
  ])("the controller for Kubernetes %s is %s", (kubernetesVersion, tag) => {
    const [addon] = awsAddons({
      ...{
        clusterName: "lab",
        region: "eu-central-1",
        controlPlanes: 3,
        ebsCsi: false,
        clusterAutoscaler: false,
        ebsIsDefault: true,
      },
      cloudControllerManager: true,
      kubernetesVersion,
    });
    expect(parse(addon?.values ?? "")).toMatchObject({ image: { tag } });
  });

  it("ebsCsi: the driver runs where the rights are, and only there pods reach the metadata", () => {
    const stack = switched("ebsCsi: true");
    expect(hops(stack, "control_plane")).toBe(2);
    expect(hops(stack, "worker")).toBe(1);
    expect(stack.resource.aws_launch_template?.burst_template).toMatchObject({
      metadata_options: { http_put_response_hop_limit: 1 },
    });
    expect(policies(stack)).toContain("control_plane_ebs_csi");
    expect(parse(addons(stack).addon_aws_ebs_csi_driver?.values[0] ?? "")).toMatchObject({
      controller: {
        region: "eu-central-1",
        replicaCount: 2,
        nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      },
      node: { hostNetwork: true },
      storageClasses: [{ name: "gp3", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } }],
    });
    expect(cluster(stack)).not.toHaveProperty("external_cloud_provider");
  });

  it("clusterAutoscaler: runs where the rights are, in the host's network, after the controller that names the nodes", () => {
    const stack = switched("cloudControllerManager: true\nclusterAutoscaler: true");
    expect(policies(stack)).toContain("control_plane_cluster_autoscaler");
    expect(hops(stack, "control_plane")).toBe(1);
    const addon = addons(stack).addon_cluster_autoscaler;
    expect(addon?.depends_on).toContain("talosmith_addon.addon_aws_cloud_controller_manager");
    expect(parse(addon?.values[0] ?? "")).toMatchObject({
      cloudProvider: "aws",
      awsRegion: "eu-central-1",
      autoDiscovery: { clusterName: "sample" },
      hostNetwork: true,
      nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      image: { tag: "v1.36.1" },
    });
  });

  it("ebsCsi: one replica for one control plane, which could not be drained of two", () => {
    const stack = switched("ebsCsi: true", "controlPlane: { count: 1 }\nworkers: [{ count: 1 }]");
    expect(addons(stack).addon_aws_ebs_csi_driver?.values[0]).toContain("replicaCount: 1");
  });

  it("leave the default class to storage.nfs where that is the default", () => {
    const nfs = (more: string) => `${rest}\nstorage: { nfs: { server: nfs.example.com, share: /srv/nfs${more} } }`;
    const isDefault = (others: string) =>
      /is-default-class: "(\w+)"/.exec(
        addons(switched("ebsCsi: true", others)).addon_aws_ebs_csi_driver?.values[0] ?? "",
      )?.[1];
    expect(isDefault(nfs(""))).toBe("false");
    expect(isDefault(nfs(", default: false"))).toBe("true");
  });

  it("metadataHopLimit of a pool has the last word", () => {
    const stack = switched(
      "ebsCsi: true",
      "controlPlane: { count: 1, metadataHopLimit: 1 }\nworkers: [{ count: 1, metadataHopLimit: 3 }]",
    );
    expect([hops(stack, "control_plane"), hops(stack, "worker")]).toEqual([1, 3]);
  });

  it("go in after the pod network and before all other add-ons", () => {
    const stack = switched(
      "cloudControllerManager: true\nebsCsi: true",
      `${rest}\ncluster: { cni: none }\naddons:\n  - { name: app, chart: ./app }\n  - { name: cilium, chart: "oci://registry.example/cilium", cni: true }\n`,
    );
    const waitsFor = (name: string) =>
      addons(stack)
        [`addon_${name}`]?.depends_on.map((address) => address.replace(/^talosmith_addon\.addon_/, ""))
        .sort();
    const whole = "talosmith_cluster.cluster";
    expect(waitsFor("cilium")).toEqual([whole]);
    expect(waitsFor("aws_cloud_controller_manager")).toEqual(["cilium", whole]);
    expect(waitsFor("aws_ebs_csi_driver")).toEqual(["aws_cloud_controller_manager", "cilium", whole]);
    expect(waitsFor("app")).toEqual(["aws_cloud_controller_manager", "aws_ebs_csi_driver", "cilium", whole]);
  });

  it("are installed for constructs, too", () => {
    const stack = new TalosStack(Testing.app(), "lab");
    const infrastructure = new AwsInfrastructure(stack, "Infrastructure", {
      ...{ clusterName: "lab", region: "eu-central-1", adminCidrs: ["198.51.100.0/24"] },
      cloudControllerManager: true,
      ebsCsi: true,
    });
    const lab = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane: { count: 3 } });
    lab.addAddon({ name: "app", chart: "./app" });
    expect(Object.keys(addons(JSON.parse(Testing.synth(stack)) as StackJson)).sort()).toEqual([
      "addon_app",
      "addon_aws_cloud_controller_manager",
      "addon_aws_ebs_csi_driver",
    ]);
  });
});
