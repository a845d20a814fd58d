// SPDX-License-Identifier: Apache-2.0
// What constructs show and take, so that others can be built on them: providers, references, rules, sizes, defaults.
import { App, TerraformProvider, Testing } from "cdktn";
import { Construct } from "constructs";
import { describe, expect, it } from "vitest";
import {
  AnyResource,
  AwsInfrastructure,
  type AwsInfrastructureProps,
  type AwsPoolSettings,
  DockerInfrastructure,
  LibvirtInfrastructure,
  PodInfrastructure,
  SimulatedInfrastructure,
  TalosCluster,
  TalosStack,
  WorkerPool,
} from "../../constructs/index.ts";
import { machinesOf, type StackJson } from "./project.ts";
import { faultsOf } from "./stack-schemas.ts";

const trust = { trustOnFirstUse: true };
const newStack = () => new TalosStack(new App(), "lab");
const written = (stack: TalosStack) => JSON.parse(Testing.synth(stack, true)) as StackJson;
/** The blocks of a type by their names, each with its provider. */
const providersOf = (json: StackJson) =>
  [json.resource, json.data ?? {}].flatMap((kind) =>
    Object.values(kind).flatMap((byId) => Object.entries(byId).map(([name, body]) => [name, body.provider] as const)),
  );

const aws = (stack: TalosStack, props: Partial<AwsInfrastructureProps> = {}, id = "aws") =>
  new AwsInfrastructure(stack, id, { region: "eu-central-1", adminCidrs: ["203.0.113.0/24"], ...props });
const onAws = (
  stack: TalosStack,
  infrastructure: AwsInfrastructure,
  workers: AwsPoolSettings & { count?: number } = {},
) => {
  const cluster = new TalosCluster(stack, "cluster", { name: "lab", infrastructure, controlPlane: {} });
  return new WorkerPool(cluster, "general", workers);
};

/** A provider block as a prebuilt package has it. */
class Prebuilt extends TerraformProvider {
  readonly #alias: string | undefined;
  constructor(stack: TalosStack, id: string, name: string, alias?: string) {
    super(stack, id, { terraformResourceType: name, terraformProviderSource: `hashicorp/${name}` });
    this.#alias = alias;
  }
  override get alias(): string | undefined {
    return this.#alias;
  }
}

describe("provider blocks", () => {
  it.each([
    [
      "libvirt",
      (stack: TalosStack, id: string) => new LibvirtInfrastructure(stack, id, { ...trust, network: { mode: "nat" } }),
    ],
    ["docker", (stack: TalosStack, id: string) => new DockerInfrastructure(stack, id, trust)],
    ["kubernetes", (stack: TalosStack, id: string) => new PodInfrastructure(stack, id, trust)],
    ["aws", (stack: TalosStack, id: string) => aws(stack, {}, id)],
  ])("of a second infrastructure of %s has an alias, and its resources belong to it", (name, create) => {
    const stack = newStack();
    const [first, second] = [create(stack, "first"), create(stack, "second-one")];
    expect([first.provider.alias, second.provider.alias]).toEqual([undefined, "second_one"]);
    const json = written(stack);
    expect(json.provider[name]?.map(({ alias }) => alias)).toEqual([undefined, "second_one"]);
    for (const [block, provider] of providersOf(json))
      if (!block.endsWith("_reachable"))
        expect([block, provider]).toEqual([block, block.startsWith("second") ? `${name}.second_one` : undefined]);
  });

  it("of yours is the only one, and machines of pools belong to it, too", () => {
    const stack = newStack();
    onAws(stack, aws(stack, { provider: new Prebuilt(stack, "mine", "aws", "mine") }), { scaling: { min: 0, max: 3 } });
    const json = written(stack);
    expect(json.provider.aws).toEqual([{ alias: "mine" }]);
    const without = providersOf(json).filter(([, provider]) => provider === undefined);
    expect(without.filter(([name]) => /^aws_(?!reachable)/.test(name))).toEqual([]);
    expect(json.resource.aws_autoscaling_group?.cluster_general?.provider).toBe("aws.mine");
    expect(json.resource.aws_instance?.cluster_control_plane?.provider).toBe("aws.mine");
  });

  it("has the alias that it was given", () => {
    const stack = newStack();
    aws(stack, { provider: { alias: "frankfurt", profile: "ops" } });
    expect(written(stack).provider.aws).toEqual([{ alias: "frankfurt", profile: "ops", region: "eu-central-1" }]);
  });

  it("gets an alias where yours without one came first; a later one without alias is refused", () => {
    const first = newStack();
    new Prebuilt(first, "mine", "aws");
    aws(first);
    expect(written(first).provider.aws?.map(({ alias }) => alias)).toEqual([undefined, "aws"]);
    const second = newStack();
    aws(second);
    new Prebuilt(second, "mine", "aws");
    expect(() => written(second)).toThrow(
      "found a second provider block for aws without alias, lab/mine; expected one",
    );
  });

  it("of another provider is refused", () => {
    const stack = newStack();
    const provider = new Prebuilt(stack, "mine", "google");
    expect(() => aws(stack, { provider })).toThrow("lab/aws: provider is one for google; expected one for aws");
  });
});

it("refuses a construct of the archived CDK in words, with what to do", () => {
  class Archived extends Construct {}
  Object.defineProperty(Archived, Symbol.for("jsii.rtti"), { value: { fqn: "cdktf.TerraformResource" } });
  class Pet extends Archived {}
  const stack = newStack();
  new Pet(stack, "pet");
  expect(() => stack.prepareStack()).toThrow(
    "lab/pet: found a construct of the archived package cdktf; expected those of cdktn. Use @cdktn/provider-*",
  );
});

describe("what an infrastructure shows", () => {
  it("is references on AWS, also to resources of yours", () => {
    const stack = newStack();
    const { vpc, subnets, securityGroups, roles, loadBalancer } = aws(stack, { zones: 2 });
    new AnyResource(stack, "shown", "terraform_data", {
      input: {
        vpc: { ...vpc },
        public: subnets.public.map((subnet) => ({ ...subnet })),
        private: subnets.private.map(({ id }) => id),
        groups: [securityGroups.controlPlane.id, securityGroups.worker.id, securityGroups.loadBalancer.id],
        loadBalancer: { name: loadBalancer.dnsName, arn: loadBalancer.arn },
      },
      triggers_replace: [roles.worker.name, roles.worker.arn, roles.controlPlane.profileName, "${not.a.reference}"],
    });
    expect(written(stack).resource.terraform_data?.shown).toMatchObject({
      input: {
        vpc: { id: "${aws_vpc.aws_vpc.id}", cidr: "10.0.0.0/16" },
        public: [{ id: "${aws_subnet.aws_public_1.id}", zone: "eu-central-1a" }, { zone: "eu-central-1b" }],
        private: ["${aws_subnet.aws_private_1.id}", "${aws_subnet.aws_private_2.id}"],
        groups: [
          "${aws_security_group.aws_allow_control_plane.id}",
          "${aws_security_group.aws_allow_worker.id}",
          "${aws_security_group.aws_allow_load_balancer.id}",
        ],
        loadBalancer: { name: "${aws_lb.aws_api.dns_name}", arn: "${aws_lb.aws_api.arn}" },
      },
      triggers_replace: [
        "${aws_iam_role.aws_worker.name}",
        "${aws_iam_role.aws_worker.arn}",
        "${aws_iam_instance_profile.aws_control_plane_profile.name}",
        "$${not.a.reference}",
      ],
    });
  });

  it("is network, pool and namespace elsewhere", () => {
    const stack = newStack();
    const nat = new LibvirtInfrastructure(stack, "nat", {
      ...trust,
      clusterName: "nat",
      network: { mode: "nat", cidr: "10.9.0.0/24" },
      storagePool: { name: "fast", path: "/srv/fast" },
    });
    const bridge = new LibvirtInfrastructure(stack, "bridge", trust);
    const docker = new DockerInfrastructure(stack, "docker", trust);
    const pods = new PodInfrastructure(stack, "pods", trust);
    expect([bridge.network, bridge.pool]).toEqual([
      { bridge: "br0", cidr: "10.0.0.0/24", gateway: "10.0.0.1" },
      { name: "default" },
    ]);
    new AnyResource(stack, "shown", "terraform_data", {
      input: {
        network: { ...nat.network },
        pool: { ...nat.pool },
        docker: { ...docker.network },
        namespace: { ...pods.namespace },
      },
    });
    const json = written(stack);
    expect(json.resource.terraform_data?.shown?.input).toEqual({
      network: { name: "${libvirt_network.nat_network.name}", cidr: "10.9.0.0/24", gateway: "10.9.0.1" },
      pool: { name: "${libvirt_pool.nat_pool.name}" },
      docker: {
        id: "${docker_network.docker_network.id}",
        name: "${docker_network.docker_network.name}",
        cidr: "10.5.0.0/24",
      },
      namespace: { name: "${kubernetes_namespace_v1.pods_namespace.metadata[0].name}" },
    });
    expect(json.resource.libvirt_network?.nat_network?.name).toBe("talos-nat");
  });
});

describe("what can be added to AWS", () => {
  it("is rules for networks and security groups", () => {
    const stack = newStack();
    const infrastructure = aws(stack);
    const group = new AnyResource(stack, "mine", "aws_security_group", { name: "mine", vpc_id: infrastructure.vpc.id });
    infrastructure.allow({
      description: "Metrics",
      ports: "9100-9101",
      securityGroups: [group.id],
      cidrs: ["10.9.0.0/24"],
    });
    infrastructure.allow({
      description: "Mail",
      direction: "egress",
      machines: "worker",
      ports: 587,
      cidrs: ["192.0.2.1/32"],
    });
    const { resource } = written(stack);
    const own = (way: string) =>
      Object.entries(resource[`aws_vpc_security_group_${way}_rule`] ?? {}).filter(([name]) => name.includes("_own_"));
    expect(own("ingress").map(([name]) => name)).toEqual([
      "aws_allow_control_plane_own_ingress_tcp_9100_9101_10_9_0_0_24",
      "aws_allow_control_plane_own_ingress_tcp_9100_9101_metrics",
      "aws_allow_worker_own_ingress_tcp_9100_9101_10_9_0_0_24",
      "aws_allow_worker_own_ingress_tcp_9100_9101_metrics",
    ]);
    expect(own("ingress")[1]?.[1]).toMatchObject({
      referenced_security_group_id: "${aws_security_group.mine.id}",
      ...{ from_port: 9100, to_port: 9101 },
    });
    expect(own("egress").map(([name]) => name)).toEqual(["aws_allow_worker_own_egress_tcp_587_192_0_2_1_32"]);
  });

  it("is policies of the roles of machines", () => {
    const stack = newStack();
    const infrastructure = aws(stack);
    const bucket = new AnyResource(stack, "bucket", "aws_s3_bucket", { bucket: "assets" });
    const policy = new AnyResource(stack, "policy", "aws_iam_policy", { name: "mine", policy: "{}" });
    const resources = [bucket.attribute("arn")];
    infrastructure.addPolicy({
      name: "assets",
      machines: "worker",
      statements: [{ actions: ["s3:GetObject"], resources }],
    });
    infrastructure.addPolicy({ name: "mine", policyArn: policy.attribute("arn") });
    const { resource } = written(stack);
    expect(Object.keys(resource.aws_iam_role_policy ?? {})).toEqual(["aws_worker_assets"]);
    expect(resource.aws_iam_role_policy?.aws_worker_assets?.policy).toContain("aws_s3_bucket.bucket.arn");
    expect(
      Object.entries(resource.aws_iam_role_policy_attachment ?? {}).map(([name, body]) => [name, body.policy_arn]),
    ).toEqual([
      ["aws_control_plane_mine", "${aws_iam_policy.policy.arn}"],
      ["aws_worker_mine", "${aws_iam_policy.policy.arn}"],
    ]);
  });

  it.each([
    ["aws_lb_target_group_attachment", {}, { for_each: "${local.cluster_general}", port: 30443 }],
    [
      "aws_autoscaling_attachment",
      { scaling: { min: 1, max: 3 } },
      { autoscaling_group_name: "${aws_autoscaling_group.cluster_general.name}" },
    ],
  ])("is listeners for pools, by %s", (type, settings, target) => {
    const stack = newStack();
    const infrastructure = aws(stack);
    const pool = onAws(stack, infrastructure, settings);
    infrastructure.addListener({ port: 443, targetPort: 30443, pool });
    // The same port of machines once more, for which AWS has the rule already.
    infrastructure.addListener({ port: 8443, targetPort: 30443, pool, cidrs: ["0.0.0.0/0"] });
    const json = written(stack);
    expect(json.resource[type]?.cluster_general_port_443_target).toMatchObject(target);
    const { aws_lb_listener: listeners = {}, aws_vpc_security_group_ingress_rule: rules = {} } = json.resource;
    expect(Object.values(listeners).map(({ port }) => port)).toEqual([6443, 443, 8443, 50000]);
    const opened = Object.entries(rules).flatMap(([name, { cidr_ipv4 }]) =>
      /443/.test(name) ? [[name, cidr_ipv4]] : [],
    );
    expect(opened).toEqual([
      ["aws_allow_load_balancer_port_443_1", "203.0.113.0/24"],
      ["aws_allow_load_balancer_port_8443_1", "0.0.0.0/0"],
      ["aws_allow_worker_30443_from_load_balancer", undefined],
    ]);
    expect(faultsOf(json)).toEqual([]);
  });

  const allowed = { description: "Metrics", ports: 9100 };
  it.each<[string, (infrastructure: AwsInfrastructure, stack: TalosStack) => void, string]>([
    [
      "a rule for nobody",
      (it) => it.allow(allowed),
      'lab/aws: allow "Metrics": expected cidrs, securityGroups or both',
    ],
    [
      "a rule for no network",
      (it) => it.allow({ ...allowed, cidrs: ["10.9.0.1/24"] }),
      'lab/aws: securityGroupRules.ingress[0].cidrs[0] is "10.9.0.1/24"; expected an IPv4 network',
    ],
    [
      "a rule twice",
      (it) => [1, 2].map(() => it.allow({ ...allowed, securityGroups: ["sg-0123456789abcdef0"] })),
      'lab/aws/allow: found a second ingress rule for "Metrics"; expected each once',
    ],
    [
      "a policy of nothing",
      (it) => it.addPolicy({ name: "mine" }),
      "lab/aws/control-plane: policy mine: expected one of statements and policyArn",
    ],
    [
      "a policy twice",
      (it) => [1, 2].map(() => it.addPolicy({ name: "mine", policyArn: "arn:aws:iam::aws:policy/ReadOnlyAccess" })),
      "lab/aws/control-plane: found a second policy named mine",
    ],
    [
      "a port that the cluster has",
      (it, stack) => it.addListener({ port: 6443, pool: onAws(stack, it) }),
      "lab/aws/api: found a second listener for port 6443",
    ],
    [
      "a port that is none",
      (it, stack) => it.addListener({ port: 443, targetPort: 70_000, pool: onAws(stack, it) }),
      "lab/aws: addListener: port is 70000; expected a whole number from 1 to 65535",
    ],
    [
      "a pool of another infrastructure",
      (it, stack) => it.addListener({ port: 443, pool: onAws(stack, aws(stack, {}, "other")) }),
      "lab/aws: addListener 443: pool general runs elsewhere; expected a pool of this infrastructure",
    ],
    [
      "a listener for nobody",
      (it, stack) => it.addListener({ port: 443, pool: onAws(stack, it), cidrs: [] }),
      "lab/aws: addListener 443: found no cidrs; expected the networks that may reach it",
    ],
  ])("is not %s", (_, add, message) => {
    const stack = newStack();
    const infrastructure = aws(stack);
    expect(() => add(infrastructure, stack)).toThrow(message);
  });

  it("is no policy of a role that is not made here", () => {
    const infrastructure = aws(newStack(), { iam: { worker: { instanceProfile: "mine" } } });
    const add = () =>
      infrastructure.addPolicy({ name: "x", machines: "worker", policyArn: "arn:aws:iam::aws:policy/A" });
    expect(infrastructure.roles.worker.name).toBeUndefined();
    expect(add).toThrow("policy x: found an instanceProfile of yours; add the policy to the role of that profile");
  });
});

describe("sizes", () => {
  const gibibyte = 2 ** 30;
  const libvirt = (size: (text: string, bytes: number) => string | number) => {
    const stack = newStack();
    const infrastructure = new LibvirtInfrastructure(stack, "kvm", trust);
    const pool = {
      memory: size("8GiB", 8 * gibibyte),
      disk: size("50 GiB", 50 * gibibyte),
      extraDisks: [{ size: size("0.5TiB", 512 * gibibyte) }],
    };
    const airGap = { imageCache: true, imageCacheVolume: { size: size("2GiB", 2 * gibibyte) } };
    new TalosCluster(stack, "cluster", { name: "lab", infrastructure, controlPlane: pool, airGap });
    return written(stack);
  };
  it("are the same as text and as bytes", () => {
    const json = libvirt((text) => text);
    expect(json).toEqual(libvirt((_, bytes) => bytes));
    expect(json.resource.libvirt_domain?.cluster_control_plane?.memory).toBe(8192);
  });

  const build = (props: object) => {
    const stack = newStack();
    const infrastructure = new LibvirtInfrastructure(stack, "kvm", trust);
    new TalosCluster(stack, "cluster", { name: "lab", infrastructure, controlPlane: props });
    return written(stack);
  };
  it.each([
    [{ disk: "50GB" }, 'lab/cluster/cp: disk is "50GB"; expected a size such as "4GiB"'],
    [{ extraDisks: [{ size: "big" }] }, 'extraDisks[0].size is "big"; expected a size such as "4GiB"'],
  ])("are refused in one sentence: %j", (props, message) => {
    expect(() => build(props)).toThrow(message);
  });
});

describe("what has a default", () => {
  it("may be left out", () => {
    const stack = newStack();
    const infrastructure = new SimulatedInfrastructure(stack, "simulator");
    const cluster = new TalosCluster(stack, "cluster", { name: "lab", infrastructure, controlPlane: {} });
    new WorkerPool(cluster, "general", {});
    expect(Object.keys(machinesOf(written(stack), "talosmith_cluster.cluster_cluster"))).toEqual([
      "lab-cp-1",
      "lab-general-1",
      "lab-general-2",
    ]);
  });

  it("on AWS is the name of the stack, the network of the VPC and the name of the API", () => {
    const stack = newStack();
    const infrastructure = aws(stack, { vpc: { natGateways: "per-zone" }, dns: { zone: "example.com" } });
    onAws(stack, infrastructure);
    const { resource } = written(stack);
    expect(infrastructure.endpoint()).toBe("https://k8s.lab.example.com:6443");
    expect(resource.aws_vpc?.aws_vpc).toMatchObject({ cidr_block: "10.0.0.0/16", tags: { Name: "lab" } });
  });
});
