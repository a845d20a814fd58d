// SPDX-License-Identifier: Apache-2.0
import { TerraformProvider, TerraformStack } from "cdktn";
import { Construct } from "constructs";
import { awsAddons, zoneOrder } from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { type Architecture, amazonImage } from "../../talos/image/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { bytesOf, checkParts } from "../check.ts";
import type { AddonProps, AddonRequest, Infrastructure, MachineSet, PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import { type Addressable, chooseProvider, Milestone, providerFor } from "../terraform/index.ts";
import { type AwsAccountProps, AwsIdentity, providerArguments } from "./account.ts";
import { BackupBucket } from "./backups.ts";
import { AwsDataSource, AwsProvider, AwsResource } from "./bindings.ts";
import { cloudControllerPolicy } from "./cloud-controller-policy.ts";
import { clusterAutoscalerPolicy } from "./cluster-autoscaler-policy.ts";
import { DnsName } from "./dns.ts";
import { ebsCsiPolicy } from "./ebs-csi-policy.ts";
import { createEc2Machines, type InstanceSettings } from "./ec2-machines.ts";
import { createEncryptionKey } from "./encryption-key.ts";
import { FlowLogs } from "./flow-logs.ts";
import { type AwsPolicyProps, type AwsRole, InstanceRole } from "./iam.ts";
import {
  type AwsListenerProps,
  type AwsLoadBalancer,
  LoadBalancer,
  type LoadBalancerTargets,
} from "./load-balancer.ts";
import { AwsNetwork, type AwsSubnets, type AwsVpc } from "./network.ts";
import type { PolicyScope } from "./policy.ts";
import { clusterPorts, everyNode, kubernetesThroughLoadBalancer, networkPorts } from "./ports.ts";
import type { AwsInfrastructureProps, AwsPoolSettings } from "./props.ts";
import { ScalingGroup } from "./scaling-group.ts";
import { type AwsSecurityGroups, type AwsTrafficProps, SecurityGroups } from "./security-groups.ts";

/** EC2 instances over several zones, behind a network load balancer. */
export class AwsInfrastructure extends Construct implements Infrastructure<AwsPoolSettings> {
  readonly kind = "aws";
  readonly platform = "aws";
  readonly certSans: readonly string[];
  readonly trustOnFirstUse: boolean;
  readonly configSource: "api" | "user-data";
  readonly talosEndpoints: readonly string[] | undefined;
  /** DNS name of the load balancer in front of the control planes; a reference. */
  readonly loadBalancerDns: string;
  /** Name of the bucket for backups, a reference; undefined without `backups`. */
  readonly backupBucket: string | undefined;
  readonly reach: Addressable;
  /** The provider block of its resources. */
  readonly provider: TerraformProvider;
  /** The VPC of the machines. */
  readonly vpc: AwsVpc;
  /** The subnets of the VPC. */
  readonly subnets: AwsSubnets;
  /** The security groups of machines and load balancer. */
  readonly securityGroups: AwsSecurityGroups;
  /** The load balancer in front of the control planes. */
  readonly loadBalancer: AwsLoadBalancer;
  /** The roles of machines. */
  readonly roles: {
    /** Of control planes. */
    readonly controlPlane: AwsRole;
    /** Of workers. */
    readonly worker: AwsRole;
  };
  readonly deletionProtection: boolean;
  readonly cloudControllerManager: boolean;
  readonly #props: AwsInfrastructureProps;
  readonly #access: "public" | "nlb" | "private";
  readonly #network: AwsNetwork;
  readonly #groups: SecurityGroups;
  readonly #loadBalancer: LoadBalancer;
  readonly #apiHost: string;
  readonly #roles: { readonly controlplane: InstanceRole; readonly worker: InstanceRole };
  readonly #images = new Map<Architecture, string>();
  /** What was made for each pool. */
  readonly #targets = new Map<Construct, LoadBalancerTargets>();
  readonly #clusterName: string;

  constructor(scope: Construct, id: string, props: AwsInfrastructureProps) {
    super(scope, id);
    this.#props = props;
    checkParts({ kind: this.kind, infrastructure: this.settings() }, false, () => this);
    this.#access = props.access ?? "nlb";
    this.deletionProtection = props.deletionProtection ?? false;
    this.cloudControllerManager = props.cloudControllerManager ?? false;
    const { clusterName = TerraformStack.of(this).node.id, region } = props;
    this.#clusterName = clusterName;
    this.provider = this.#chooseProvider(props.provider ?? {});
    const internal = this.#access === "private";
    this.#network = new AwsNetwork(this, "Default", {
      clusterName,
      vpc: props.vpc ?? {},
      zones: { region, zones: props.zones },
      privateMachines: props.privateMachines ?? this.#access !== "public",
    });
    const throughBalancer = this.#access === "nlb";
    this.#groups = new SecurityGroups(this, "allow", {
      clusterName,
      vpcId: this.#network.vpcId,
      vpcCidr: this.#network.cidr,
      ports: [...clusterPorts, ...networkPorts(props.podNetwork ?? "flannel", props.kubespan ?? false)],
      talosThroughLoadBalancer: throughBalancer,
      loadBalancerIsPublic: !internal,
    });
    this.#loadBalancer = new LoadBalancer(this, "api", {
      clusterName,
      vpcId: this.#network.vpcId,
      subnetIds: internal ? this.#network.privateSubnetIds : this.#network.publicSubnetIds,
      securityGroupId: this.#groups.ids.loadBalancer,
      internal,
      deletionProtection: this.deletionProtection,
      ports: [
        { name: "kubernetes", port: 6443 },
        ...(throughBalancer ? [{ name: "talos", port: 50000 } as const] : []),
      ],
    });
    this.#letIn(internal);
    const reach = new Milestone(this, "reachable");
    this.reach = reach;
    reach.dependOn(...this.#network.routes, ...this.#groups.rules, ...this.#loadBalancer.listeners);
    this.loadBalancerDns = this.#loadBalancer.dnsName;
    const dns =
      props.dns &&
      new DnsName(this, "dns", { ...props.dns, clusterName, vpcId: this.#network.vpcId, target: this.#loadBalancer });
    if (dns !== undefined) reach.dependOn(dns.record);
    this.#apiHost = dns?.fullName ?? this.#loadBalancer.dnsName;
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
    this.configSource = this.#access === "public" ? "api" : "user-data";
    this.talosEndpoints = throughBalancer
      ? [this.loadBalancerDns]
      : internal
        ? [...(props.talosEndpoints ?? [])]
        : undefined;
    this.certSans = this.talosEndpoints ?? [];
    const shared = this.#createShared();
    this.backupBucket = shared.bucketName;
    this.#roles = shared.roles;
    this.vpc = { id: this.#network.vpcId, cidr: this.#network.cidr };
    this.subnets = this.#network.all;
    const { controlPlane, worker, loadBalancer } = this.#groups.ids;
    this.securityGroups = {
      controlPlane: { id: controlPlane },
      worker: { id: worker },
      loadBalancer: { id: loadBalancer },
    };
    this.loadBalancer = this.#loadBalancer;
    this.roles = { controlPlane: shared.roles.controlplane, worker: shared.roles.worker };
  }

  /** Lets machines be reached by others, or others by machines. */
  allow(traffic: AwsTrafficProps): void {
    const { direction = "ingress", ...rule } = traffic;
    const { cidrs = [], securityGroups = [], ...asInFile } = rule;
    if (cidrs.length + securityGroups.length === 0)
      refuse(this, `allow "${rule.description}": expected cidrs, securityGroups or both`);
    // The rules of a file name networks; the one of the VPC stands for security groups.
    const ruleOfFile = { ...asInFile, cidrs: cidrs.length === 0 ? [this.vpc.cidr] : cidrs };
    const settings = { ...this.settings(), securityGroupRules: { [direction]: [ruleOfFile] } };
    checkParts({ kind: this.kind, infrastructure: settings }, false, () => this);
    this.#groups.addRules(direction, [rule]);
  }

  /** Adds a policy to the roles of machines. */
  addPolicy(policy: AwsPolicyProps): void {
    const { machines = "all" } = policy;
    if (machines !== "worker") this.#roles.controlplane.addPolicy(policy);
    if (machines !== "controlPlane") this.#roles.worker.addPolicy(policy);
  }

  /** Makes the load balancer pass a port on to the machines of a pool. */
  addListener(listener: AwsListenerProps): void {
    const { port, pool, targetPort = port, cidrs = this.#props.adminCidrs ?? [] } = listener;
    const targets = this.#targets.get(pool);
    if (targets === undefined)
      refuse(this, `addListener ${port}: pool ${pool.poolName} runs elsewhere; expected a pool of this infrastructure`);
    const wrong = [port, targetPort].find((each) => !Number.isInteger(each) || each < 1 || each > 65_535);
    if (wrong !== undefined) refuse(this, `addListener: port is ${wrong}; expected a whole number from 1 to 65535`);
    if (cidrs.length === 0)
      refuse(this, `addListener ${port}: found no cidrs; expected the networks that may reach it`);
    this.#loadBalancer.addListener(pool, targets, port, targetPort);
    this.#groups.openListener(pool.role === "controlplane" ? "controlPlane" : "worker", port, targetPort, cidrs);
  }

  createMachines(scope: Construct, request: PoolRequest<AwsPoolSettings>): MachineSet | undefined {
    if (request.clusterName !== this.#clusterName)
      refuse(
        scope,
        `the cluster is ${request.clusterName}, but its infrastructure was made for ${this.#clusterName}; expected clusterName: "${request.clusterName}" of the infrastructure`,
      );
    chooseProvider(scope, this.provider);
    const { settings, role, rows } = request;
    const isPublic = this.#access === "public" && settings.scaling === undefined;
    const architecture = settings.architecture ?? this.#architecture;
    const zones = settings.zones ?? this.#network.zones;
    const unknown = zones.filter((zone) => !this.#network.zones.includes(zone));
    if (unknown.length > 0)
      refuse(
        scope,
        `zones has ${unknown.join(", ")}; expected zones of the infrastructure: ${this.#network.zones.join(", ")}`,
      );
    const order = zoneOrder(scope.node.id, zones);
    const common: InstanceSettings = {
      clusterName: request.clusterName,
      ami: settings.ami ?? this.#image(TalosVersion.parse(request.talosVersion), architecture),
      instanceType: settings.instanceType ?? (architecture === "arm64" ? "t4g.large" : "t3.large"),
      disk: bytesOf(scope, "disk", settings.disk ?? "20GiB"),
      extraDisks: (settings.extraDisks ?? []).map(({ size }, index) => ({
        size: bytesOf(scope, `extraDisks[${index}].size`, size),
      })),
      securityGroupId: this.#groups.ids[role === "controlplane" ? "controlPlane" : "worker"],
      tags: this.#props.tags ?? {},
      kmsKeyId: this.#props.volumeKmsKey,
      monitoring: this.#props.detailedMonitoring ?? true,
      hopLimit: settings.metadataHopLimit ?? (role === "controlplane" && this.#props.ebsCsi ? 2 : 1),
    };
    if (settings.scaling !== undefined) {
      if (this.#network.privateSubnetIds.length === 0)
        refuse(
          scope,
          "found scaling without private subnets; expected privateMachines: true of the infrastructure with access public",
        );
      const group = new ScalingGroup(scope, "Default", {
        ...common,
        pool: scope.node.id,
        nodes: request.nodes,
        config: request.machineConfig(),
        subnetIds:
          settings.zones === undefined ? this.#network.privateSubnetIds : this.#network.subnets("private", zones),
        profileArn: this.#roles.worker.profileArn,
        ...settings.scaling,
        start: rows.machines.length,
      });
      const resource = group.node.defaultChild as AwsResource<"aws_autoscaling_group">;
      this.#targets.set(scope, { scalingGroupName: resource.attribute("name") });
      return undefined;
    }
    const made = createEc2Machines(scope, {
      ...common,
      rows,
      config: isPublic ? undefined : request.machineConfig(),
      subnetIds: this.#network.subnets(isPublic ? "public" : "private", order),
      isPublic,
      profileName: this.#roles[role].profileName,
      // etcd and people know control planes by their addresses.
      keepsAddress: role === "controlplane",
      protectedFromDeletion: this.deletionProtection && role === "controlplane",
    });
    const { instances, hardware, address, parts } = made;
    this.#targets.set(scope, { rows, instances });
    const resources: Addressable[] = [instances, ...parts];
    if (role === "controlplane") resources.push(...this.#loadBalancer.addTargets(scope, rows, instances));
    // Through the load balancer's public name, a machine comes from its own public address.
    if (isPublic)
      resources.push(
        new AwsResource(
          scope,
          "kubernetes",
          "aws_vpc_security_group_ingress_rule",
          {
            security_group_id: this.#groups.ids.loadBalancer,
            description: `Kubernetes API, from ${rows.each.name}`,
            ...{ ip_protocol: "tcp", from_port: 6443, to_port: 6443 },
            cidr_ipv4: `${address(rows.each.key)}/32`,
          },
          { forEach: rows.forEach, formerId: ({ pool, index }) => `allow_load_balancer_kubernetes_${pool}_${index}_1` },
        ),
      );
    return {
      resources,
      address: ({ key }) => address(key),
      identity: ({ key }) => instances.instance(key, "id"),
      hardwareId: ({ key }) => hardware.instance(key, "id"),
      diskSize: common.disk,
      // Its node has a name of its own, by which AWS does not know it. User-data has no such id yet, hence no host name.
      providerId: ({ key }) =>
        this.cloudControllerManager
          ? `aws:///${instances.instance(key, "availability_zone")}/${instances.instance(key, "id")}`
          : undefined,
    };
  }

  addons({ kubernetesVersion, controlPlanes }: AddonRequest): readonly AddonProps[] {
    const { region, ebsCsi = false, ebsIsDefault = true, clusterAutoscaler = false } = this.#props;
    const { cloudControllerManager } = this;
    const clusterName = this.#clusterName;
    const cluster = { clusterName, region, kubernetesVersion, controlPlanes };
    return awsAddons({ ...cluster, cloudControllerManager, ebsCsi, ebsIsDefault, clusterAutoscaler });
  }

  settings(): object {
    const { provider = {}, ...settings } = this.#props;
    if (TerraformProvider.isTerraformProvider(provider)) return settings;
    const { alias: _, ...account } = provider;
    return { ...settings, provider: account };
  }

  endpoint(): string {
    return endpointAt(this.#apiHost);
  }

  #chooseProvider(provider: AwsAccountProps | TerraformProvider): TerraformProvider {
    if (TerraformProvider.isTerraformProvider(provider)) return providerFor(this, "aws", provider);
    const args = { region: this.#props.region, ...providerArguments(provider, this.#props.tags ?? {}) };
    return providerFor(this, "aws", (alias) => new AwsProvider(this, "aws", args, provider.alias ?? alias));
  }

  #letIn(internal: boolean): void {
    const { adminCidrs = [], kubernetesApiFromAnywhere = false } = this.#props;
    const allow = this.#groups;
    for (const way of ["ingress", "egress"] as const) allow.addRules(way, this.#props.securityGroupRules?.[way] ?? []);
    if (internal) allow.allowPeers(kubernetesThroughLoadBalancer);
    else
      allow.allowCidrs(
        "kubernetes-nat",
        "loadBalancer",
        6443,
        "Kubernetes API, from machines through NAT",
        this.#network.natCidrs,
      );
    if (kubernetesApiFromAnywhere)
      allow.allowCidrs("kubernetes-anywhere", "loadBalancer", 6443, "Kubernetes API, from anywhere as asked for", [
        "0.0.0.0/0",
      ]);
    else allow.allowCidrs("kubernetes-admin", "loadBalancer", 6443, "Kubernetes API, from administrators", adminCidrs);
    const talos = "Talos API, from administrators";
    if (this.#access === "nlb") allow.allowCidrs("talos-admin", "loadBalancer", 50000, talos, adminCidrs);
    else for (const peer of everyNode) allow.allowCidrs("talos-admin", peer, 50000, talos, adminCidrs);
  }

  #createShared() {
    const clusterName = this.#clusterName;
    const { region, backups, flowLogs = false, prunesBackups = false } = this.#props;
    const identity = new AwsIdentity(this);
    const scope: PolicyScope = { identity, region, clusterName, vpcId: this.#network.vpcId };
    const keepLog = this.deletionProtection;
    const keyArn = backups !== undefined || flowLogs ? createEncryptionKey(this, "key", scope) : "";
    const bucket =
      backups &&
      new BackupBucket(this, "backups", { clusterName, identity, keyArn, keepLog, prunes: prunesBackups, ...backups });
    if (flowLogs) new FlowLogs(this, "flow-logs", { clusterName, vpcId: this.#network.vpcId, keyArn });
    const { controlPlane: ofControlPlanes, worker: ofWorkers } = this.#props.iam ?? {};
    const profileArn = (name: string) => `arn:${identity.partition}:iam::${identity.account}:instance-profile/${name}`;
    const roles = {
      controlplane: new InstanceRole(this, "control-plane", {
        ...ofControlPlanes,
        profileArn,
        name: `${clusterName}-control-plane`,
        policies: {
          "cloud-controller": this.cloudControllerManager ? cloudControllerPolicy(scope) : [],
          "ebs-csi": this.#props.ebsCsi ? ebsCsiPolicy(scope) : [],
          "cluster-autoscaler": this.#props.clusterAutoscaler ? clusterAutoscalerPolicy(scope) : [],
          backups: bucket?.policy ?? [],
        },
      }),
      worker: new InstanceRole(this, "worker", {
        ...ofWorkers,
        profileArn,
        name: `${clusterName}-worker`,
        policies: {},
      }),
    };
    return { bucketName: bucket?.bucketName, roles };
  }

  get #architecture(): Architecture {
    return this.#props.architecture ?? "amd64";
  }

  #image(version: TalosVersion, architecture: Architecture): string {
    const usual = architecture === this.#architecture;
    if (usual && this.#props.ami !== undefined) return this.#props.ami;
    const { region } = this.#props;
    const known = this.#images.get(architecture);
    if (known !== undefined) return known;
    const { owner, name } = amazonImage(version, region, architecture);
    const image = new AwsDataSource(this, usual ? "image" : `image-${architecture}`, "aws_ami", {
      owners: [owner],
      most_recent: true,
      filter: [{ name: "name", values: [name] }],
    }).attribute("id");
    this.#images.set(architecture, image);
    return image;
  }
}
