// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { awsAddons, zoneOrder } from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { type Architecture, amazonImage } from "../../talos/image/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { checkParts } from "../check.ts";
import type { AddonProps, AddonRequest, Infrastructure, MachineSet, PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import { type Addressable, Milestone } from "../terraform/index.ts";
import { type AwsAccountProps, providerArguments } from "./account.ts";
import { BackupBucket } from "./backups.ts";
import { AwsDataSource, AwsProvider, AwsResource } from "./bindings.ts";
import { cloudControllerPolicy } from "./cloud-controller-policy.ts";
import { clusterAutoscalerPolicy } from "./cluster-autoscaler-policy.ts";
import { type AwsDnsProps, DnsName } from "./dns.ts";
import { ebsCsiPolicy } from "./ebs-csi-policy.ts";
import { createEc2Machines, type InstanceSettings } from "./ec2-machines.ts";
import { createEncryptionKey } from "./encryption-key.ts";
import { FlowLogs } from "./flow-logs.ts";
import { type AwsRoleProps, InstanceRole } from "./iam.ts";
import { LoadBalancer } from "./load-balancer.ts";
import { AwsNetwork, type ExistingVpc, type NewVpc } from "./network.ts";
import type { PolicyScope } from "./policy.ts";
import { clusterPorts, everyNode, kubernetesThroughLoadBalancer, networkPorts } from "./ports.ts";
import { ScalingGroup } from "./scaling-group.ts";
import { SecurityGroups, type SecurityRuleProps } from "./security-groups.ts";

const gibibyte = 2 ** 30;

/** Settings of a pool of EC2 instances. */
export interface AwsPoolSettings {
  /** EC2 instance type. @default - t3.large, or t4g.large on arm64 */
  readonly instanceType?: string | undefined;
  /** Processor architecture. @default - the infrastructure's */
  readonly architecture?: Architecture | undefined;
  /** Image that the machines boot from. @default - by Talos release and architecture */
  readonly ami?: string | undefined;
  /** Network hops to the instance metadata service; pods need 2. @default - 1, or 2 for control planes with ebsCsi */
  readonly metadataHopLimit?: number | undefined;
  /** Bytes of the system disk. @default - 20 GiB */
  readonly disk?: number;
  /** Zones of the pool; machines that exist stay in their zone. @default - all of the infrastructure */
  readonly zones?: readonly string[] | undefined;
  /** Further empty disks. @default - none */
  readonly extraDisks?: readonly {
    /** Bytes. */
    readonly size: number;
  }[];
  /** An auto scaling group in place of fixed machines. @default - fixed machines */
  readonly scaling?:
    | {
        /** Fewest instances. */
        readonly min: number;
        /** Most instances. */
        readonly max: number;
      }
    | undefined;
}

/** Network, access and shared resources of a cluster on AWS. */
export interface AwsInfrastructureProps {
  /** Name of the cluster that will run here; resources and tags carry it. */
  readonly clusterName: string;
  /** AWS region. */
  readonly region: string;
  /** How many availability zones, or which. @default 3 */
  readonly zones?: number | readonly string[];
  /** Processor architecture of pools that set none. @default amd64 */
  readonly architecture?: Architecture;
  /** Image to start from. @default - Sidero Labs' image of the Talos release */
  readonly ami?: string | undefined;
  /** How the Talos API is reached. @default nlb */
  readonly access?: "public" | "nlb" | "private";
  /**
   * With access public: apply the initial config, which holds the CA keys, to whatever answers at a machine's public
   * address. @default false
   */
  readonly trustOnFirstUse?: boolean;
  /** Networks that may reach the Talos API, and the Kubernetes API from outside. @default - none */
  readonly adminCidrs?: readonly string[];
  /** Open the Kubernetes API to the whole internet. @default false */
  readonly kubernetesApiFromAnywhere?: boolean;
  /** Your tunnel or proxy to the Talos API, with access private. @default - none */
  readonly talosEndpoints?: readonly string[];
  /** The VPC to create or to use. @default - a VPC of its own, 10.0.0.0/16, one NAT gateway */
  readonly vpc?: NewVpc | ExistingVpc;
  /** Whether machines run in private subnets. @default - unless access is public */
  readonly privateMachines?: boolean;
  /** Name of the Kubernetes API. @default - the load balancer's own */
  readonly dns?: AwsDnsProps | undefined;
  /** Refuse to delete the load balancer and the control planes. @default false */
  readonly deletionProtection?: boolean;
  /** Log the traffic of the VPC to CloudWatch. @default false */
  readonly flowLogs?: boolean;
  /** Metrics of the instances every minute instead of every five. @default true */
  readonly detailedMonitoring?: boolean;
  /** A bucket for backups of etcd; pass `backupBucket` to the cluster's `addBackup`. @default - none */
  readonly backups?:
    | {
        /** Days after which S3 itself deletes a backup, also the newest one. @default - never */
        readonly expireDays?: number | undefined;
      }
    | undefined;
  /** Whether control planes may delete backups, for a talosmith there that prunes them. @default false */
  readonly prunesBackups?: boolean;
  /** Install the AWS cloud controller manager, with the permissions and node ids that it needs. @default false */
  readonly cloudControllerManager?: boolean;
  /** Install the EBS CSI driver and the StorageClass gp3, with the permissions that it needs. @default false */
  readonly ebsCsi?: boolean;
  /** Install the cluster autoscaler for pools with `scaling`. Needs `cloudControllerManager`. @default false */
  readonly clusterAutoscaler?: boolean;
  /** Rules of your own for the security groups of machines. @default - none */
  readonly securityGroupRules?: {
    /** What else may reach machines. @default - nothing */
    readonly ingress?: readonly SecurityRuleProps[];
    /** What else machines may reach. @default - their VPC, and HTTPS, time and the Kubernetes API anywhere */
    readonly egress?: readonly SecurityRuleProps[];
  };
  /** What the roles of machines have in addition, or in their place. @default - nothing */
  readonly iam?: {
    /** Of control planes. @default - nothing */
    readonly controlPlane?: AwsRoleProps;
    /** Of workers. @default - nothing */
    readonly worker?: AwsRoleProps;
  };
  /** ARN of the key for the disks of new machines. @default - the account's key for EBS */
  readonly volumeKmsKey?: string | undefined;
  /** How Terraform's AWS provider gets at the account. @default - the credential chain, any account */
  readonly provider?: AwsAccountProps;
  /** Whether claims that name no class get an EBS volume, with `ebsCsi`. @default true */
  readonly ebsIsDefault?: boolean;
  /** Tags of all resources. @default - only names */
  readonly tags?: { readonly [key: string]: string };
  /** Which pod network's ports are open between machines. @default flannel */
  readonly podNetwork?: "flannel" | "cilium" | "calico" | "other";
  /** Whether the port of KubeSpan is open between machines. @default false */
  readonly kubespan?: boolean;
}

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

  constructor(scope: Construct, id: string, props: AwsInfrastructureProps) {
    super(scope, id);
    checkParts({ kind: this.kind, infrastructure: props }, false, () => this);
    this.#props = props;
    this.#access = props.access ?? "nlb";
    this.deletionProtection = props.deletionProtection ?? false;
    this.cloudControllerManager = props.cloudControllerManager ?? false;
    const { clusterName, region } = props;
    new AwsProvider(this, "aws", {
      region,
      ...providerArguments(props.provider ?? {}, props.tags ?? {}),
    });
    const internal = this.#access === "private";
    this.#network = new AwsNetwork(this, "Default", {
      clusterName,
      vpc: props.vpc ?? { cidr: "10.0.0.0/16", natGateways: "one" },
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
      props.dns && new DnsName(this, "dns", { ...props.dns, vpcId: this.#network.vpcId, target: this.#loadBalancer });
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
  }

  createMachines(scope: Construct, request: PoolRequest<AwsPoolSettings>): MachineSet | undefined {
    if (request.clusterName !== this.#props.clusterName)
      refuse(
        scope,
        `the cluster is ${request.clusterName}, but its infrastructure was made for ${this.#props.clusterName}`,
      );
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
      disk: settings.disk ?? 20 * gibibyte,
      extraDisks: settings.extraDisks ?? [],
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
      new ScalingGroup(scope, "Default", {
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
    const { clusterName, region, ebsCsi = false, ebsIsDefault = true, clusterAutoscaler = false } = this.#props;
    const { cloudControllerManager } = this;
    const cluster = { clusterName, region, kubernetesVersion, controlPlanes };
    return awsAddons({ ...cluster, cloudControllerManager, ebsCsi, ebsIsDefault, clusterAutoscaler });
  }

  settings(): object {
    return this.#props;
  }

  endpoint(): string {
    return endpointAt(this.#apiHost);
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
    const { clusterName, region, backups, flowLogs = false, prunesBackups = false } = this.#props;
    const scope: PolicyScope = {
      partition: new AwsDataSource(this, "partition", "aws_partition", {}).attribute("partition"),
      account: new AwsDataSource(this, "account", "aws_caller_identity", {}).attribute("account_id"),
      region,
      clusterName,
      vpcId: this.#network.vpcId,
    };
    const { account } = scope;
    const keepLog = this.deletionProtection;
    const keyArn = backups !== undefined || flowLogs ? createEncryptionKey(this, "key", scope) : "";
    const bucket =
      backups &&
      new BackupBucket(this, "backups", { clusterName, account, keyArn, keepLog, prunes: prunesBackups, ...backups });
    if (flowLogs) new FlowLogs(this, "flow-logs", { clusterName, vpcId: this.#network.vpcId, keyArn });
    const { controlPlane: ofControlPlanes, worker: ofWorkers } = this.#props.iam ?? {};
    const profileArn = (name: string) => `arn:${scope.partition}:iam::${account}:instance-profile/${name}`;
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
