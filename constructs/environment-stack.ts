// SPDX-License-Identifier: Apache-2.0
import { TerraformOutput } from "cdktn";
import type { Construct } from "constructs";
import {
  addonsOf,
  controlPlanePool,
  type Environment,
  infrastructureAddonsOf,
  type MetalEnvironment,
  machinesOf,
  ownBucket,
  podNetworkOf,
  prunes,
} from "../model/index.ts";
import { AwsInfrastructure, type ExistingVpc, type NewVpc } from "./aws/index.ts";
import { addBackend, joinedControlPlane, ownerOfStack } from "./backend.ts";
import {
  type BackupBucketProps,
  type Infrastructure,
  type PoolProps,
  TalosCluster,
  type TalosClusterProps,
  WorkerPool,
} from "./cluster/index.ts";
import { DockerInfrastructure, PodInfrastructure } from "./container/index.ts";
import { LibvirtInfrastructure } from "./libvirt/index.ts";
import { MetalInfrastructure } from "./metal/index.ts";
import { SimulatedInfrastructure } from "./simulated/index.ts";
import { TalosStack } from "./terraform/index.ts";

interface Pools<Settings> {
  readonly controlPlane?: PoolProps & Settings;
  readonly workers: readonly (PoolProps & Settings & { readonly name: string })[];
}

/** The stack of one environment file. */
export class EnvironmentStack extends TalosStack {
  /** What the file says, with every default filled in. */
  readonly environment: Environment;
  #cluster: TalosCluster | undefined;

  constructor(scope: Construct, environment: Environment) {
    super(scope, environment.name);
    this.environment = environment;
    addBackend(this, environment.name, environment.backend);
    switch (environment.kind) {
      case "simulated":
        this.#addCluster(new SimulatedInfrastructure(this, "Infrastructure"), environment);
        break;
      case "libvirt": {
        const seedFolder = `generated/${environment.name}/cloud-init`;
        const { kind: _, ...settings } = environment.infrastructure;
        const infrastructure = new LibvirtInfrastructure(this, "Infrastructure", { ...settings, seedFolder });
        this.#addCluster(infrastructure, environment);
        this.#addOutputs({ cluster_vip: infrastructure.vip });
        break;
      }
      case "container": {
        const { engine, image, trustOnFirstUse, docker, kubernetes } = environment.infrastructure;
        const shared = { clusterName: environment.cluster.name, image, trustOnFirstUse };
        const infrastructure =
          engine === "docker"
            ? new DockerInfrastructure(this, "Infrastructure", { ...shared, ...docker })
            : new PodInfrastructure(this, "Infrastructure", { ...shared, ...kubernetes });
        this.#addCluster(infrastructure, environment);
        break;
      }
      case "metal": {
        const { kind: _, ...settings } = environment.infrastructure;
        const { installDisk } = environment.cluster;
        const infrastructure = new MetalInfrastructure(this, "Infrastructure", { ...settings, installDisk });
        this.#addCluster(infrastructure, withNames(environment));
        this.#addOutputs({ cluster_vip: infrastructure.vip });
        break;
      }
      case "aws": {
        const { kind: _, dns, vpc, backups, ...settings } = environment.infrastructure;
        const bucket = ownBucket(environment);
        const { name, kubespan } = environment.cluster;
        const infrastructure = new AwsInfrastructure(this, "Infrastructure", {
          ...settings,
          clusterName: name,
          vpc: vpcProps(vpc),
          dns: dns === undefined ? undefined : { ...dns, label: dns.label ?? environment.name },
          privateMachines:
            settings.access !== "public" || environment.workers.some((pool) => pool.scaling !== undefined),
          podNetwork: podNetworkOf(environment),
          kubespan,
          backups: bucket && { ...backups },
          prunesBackups: prunes(environment),
          ebsIsDefault: environment.storage.nfs?.default !== true,
        });
        this.#addCluster(
          infrastructure,
          environment,
          bucket && { ...bucket, bucket: infrastructure.backupBucket ?? "" },
        );
        this.#addOutputs({
          load_balancer_dns: infrastructure.loadBalancerDns,
          backup_bucket: infrastructure.backupBucket,
        });
        break;
      }
      default:
        environment satisfies never;
    }
  }

  /** Its cluster, for what the file can't say: `addAddon`, patches of a pool. Undefined where the file has no machines. */
  get cluster(): TalosCluster | undefined {
    return this.#cluster;
  }

  /**
   * Carries a state of talosmith 0.1.0 over, in which every machine had blocks of its own: adds a `moved` block for each.
   * A state in a local file needs no call. Call it until every state of this environment was applied once.
   */
  moveFromOwnBlocks(): void {
    const moved = this.#cluster?.moves() ?? [];
    if (moved.length > 0) this.addOverride("moved", moved);
  }

  /** `bucket` is one that is made with the infrastructure, for backups without another place. */
  #addCluster<Settings extends object>(
    infrastructure: Infrastructure<Settings>,
    pools: Pools<Settings>,
    bucket?: BackupBucketProps,
  ): void {
    const { joins } = this.environment;
    const controlPlane = pools.controlPlane ?? (joins && joinedControlPlane(this, joins));
    if (controlPlane === undefined) return;
    const cluster = new TalosCluster<Settings>(this, "Default", {
      ...clusterProps(this.environment),
      infrastructure,
      controlPlane,
    });
    this.#cluster = cluster;
    for (const { name, ...pool } of pools.workers)
      new WorkerPool<Settings>(cluster, name, pool as PoolProps & Settings);
    if (cluster.controlPlane !== undefined) {
      // The cluster has these of its infrastructure.
      const brought = infrastructureAddonsOf(this.environment).map(({ name }) => name);
      for (const addon of addonsOf(this.environment)) if (!brought.includes(addon.name)) cluster.addAddon(addon);
      const { backup } = this.environment;
      if (backup !== undefined) cluster.addBackup({ ...backup, s3: backup.s3 ?? bucket });
    }
    this.#addOutputs({
      cluster_endpoint: cluster.endpoint,
      kubeconfig_path: cluster.clientFiles?.kubeconfigPath,
      talosconfig_path: cluster.clientFiles?.talosconfigPath,
      control_plane_ips: "addresses" in controlPlane ? controlPlane.addresses : cluster.addresses("controlplane"),
      worker_ips: cluster.addresses("worker"),
      installer_image: cluster.installImage,
    });
    for (const file of contentsInState(this.environment))
      if (cluster.clientFiles !== undefined)
        new TerraformOutput(this, file, {
          value: cluster.clientFiles[file],
          description: descriptions[file],
          sensitive: true,
        });
  }

  #addOutputs(outputs: { readonly [name in keyof typeof descriptions]?: unknown }): void {
    for (const [name, value] of Object.entries(outputs))
      if (value !== undefined)
        new TerraformOutput(this, name, { value, description: descriptions[name as keyof typeof descriptions] });
  }
}

const descriptions = {
  backup_bucket: "Bucket for etcd snapshots.",
  cluster_endpoint: "URL of the Kubernetes API.",
  cluster_vip: "Address that the control planes share.",
  control_plane_ips: "Addresses of the Talos API of the control planes.",
  installer_image: "Installer that the machines are upgraded with.",
  kubeconfig: "Content of the kubeconfig.",
  kubeconfig_path: "Where the kubeconfig is, from the project's root.",
  load_balancer_dns: "Name of the load balancer in front of the control planes.",
  talosconfig: "Content of the talosconfig.",
  talosconfig_path: "Where the talosconfig is, from the project's root.",
  worker_ips: "Addresses of the Talos API of the workers.",
} as const;

/** The pools with their machines' host names. */
function withNames(environment: MetalEnvironment): Pools<object> {
  const { controlPlane, workers } = environment;
  const names = (pool: string) => machinesOf(environment).flatMap((each) => (each.pool === pool ? [each.name] : []));
  return {
    ...(controlPlane === undefined ? {} : { controlPlane: { ...controlPlane, names: names(controlPlanePool) } }),
    workers: workers.map((pool) => ({ ...pool, names: names(pool.name) })),
  };
}

function vpcProps(vpc: Extract<Environment, { kind: "aws" }>["infrastructure"]["vpc"]): NewVpc | ExistingVpc {
  const { id, cidr = "10.0.0.0/16", natGateways = "one", ...subnets } = vpc;
  return id === undefined ? { cidr, natGateways } : { id, cidr, ...subnets };
}

function contentsInState({ outputs }: Environment): readonly ("kubeconfig" | "talosconfig")[] {
  return (["kubeconfig", "talosconfig"] as const).filter((file) => outputs[file]);
}

/** What the environment file says of the cluster, as props. */
function clusterProps(environment: Environment): Omit<TalosClusterProps<never>, "infrastructure" | "controlPlane"> {
  const { cluster, name, secrets } = environment;
  return {
    ...cluster,
    secretsFile: secrets.file,
    deletionProtection: environment.infrastructure.deletionProtection,
    owner: ownerOfStack(name, environment.backend),
    contentsInState: contentsInState(environment),
    outputFolder: `generated/${name}`,
    rollout: environment.rollout,
  };
}
