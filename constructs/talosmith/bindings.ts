// SPDX-License-Identifier: Apache-2.0
// Our own provider's types; test/constructs/conformance.test.ts holds them against the schema that it serves.
import type { Construct } from "constructs";
import type {
  ArgumentsOf,
  addonSettings,
  bucketSettings,
  clusterSettings,
  machineSettings,
  rolloutSettings,
  scalingPoolSettings,
} from "../../model/settings/index.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type Arguments, type BindingMeta, DataSource, Provider, Resource } from "../terraform/index.ts";

interface TalosmithProviderArguments {
  /** Secrets bundle, relative to the project's root. */
  readonly secrets_file: string;
  /** Which state this is, of all that could hold the same cluster. */
  readonly owner?: string;
}

const talosmithProvider = {
  name: "talosmith",
  source: "talosmith.internal/talosmith/talosmith",
  version: packageJson.version,
} as const;

export class TalosmithProvider extends Provider<TalosmithProviderArguments> {
  constructor(scope: Construct, id: string, args: TalosmithProviderArguments, alias?: string) {
    super(scope, id, talosmithProvider, args, alias);
  }
}

/** A whole cluster: all of its machines in one resource. */
export interface ClusterArguments extends ArgumentsOf<typeof clusterSettings> {
  /** Machine name to machine. */
  readonly machines: { readonly [name: string]: ArgumentsOf<typeof machineSettings> };
  /** Pools of auto scaling groups by name. */
  readonly scaling_pools?: { readonly [name: string]: ArgumentsOf<typeof scalingPoolSettings> };
  /** The control plane of another stack that these workers join. */
  readonly join?: { readonly control_planes: readonly string[] };
  /** Where the Talos API of all machines is reached, when it is not at each machine's own address. */
  readonly talos_endpoints?: readonly string[];
  /** Send the first config to machines whose fingerprint is not known. */
  readonly trust_on_first_use?: boolean;
  /** `api` or `user-data`: how machines get their initial config. */
  readonly config_source?: string;
  /** How careful changes of machines in use are. */
  readonly rollout?: ArgumentsOf<typeof rolloutSettings>;
  /** What the machines run on; never changes. */
  readonly infrastructure_kind?: string;
  /** `reset`, `keep` or `prevent`. */
  readonly on_destroy?: string;
}

/** What a config needs to know of its cluster, by the names that the cluster has for it. */
export type ClusterSettings = ArgumentsOf<typeof clusterSettings>;

export interface MachineConfigSettings extends ClusterSettings {
  readonly role: "controlplane" | "worker";
  readonly hostname?: string;
  readonly patches?: readonly string[];
  /** Files with further patches, which hold secrets. */
  readonly patch_files?: readonly string[];
}

interface MachineConfigArguments extends MachineConfigSettings {
  /** Put the config into the state as it is, secrets and all: user-data cannot do without. */
  readonly include_secrets: true;
}

/** A machine config as text. */
export class MachineConfigDataSource extends DataSource<MachineConfigArguments> {
  constructor(scope: Construct, id: string, args: Arguments<MachineConfigArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_machine_config", args, meta);
  }

  get config(): string {
    return this.getStringAttribute("config");
  }
}

/** A machine's membership: made after the machine, destroyed before it, and the destroy does the leaving. */
interface MemberArguments {
  readonly name: string;
  readonly cluster: string;
  /** What the membership lives and ends with. */
  readonly machine_id: string;
  readonly address: string;
  /** Through which the machine is reached, as in its cluster. */
  readonly talos_endpoints?: readonly string[];
  /** `api` or `user-data`, as in its cluster. */
  readonly config_source?: string;
  /** `leave`, `keep` or `prevent`. */
  readonly on_destroy?: string;
}

/** A machine of the simulator. */
interface SimulatedMachineArguments {
  readonly name: string;
  readonly cluster: string;
  readonly talos_version?: string;
}

/** A NoCloud seed as an ISO image on disk. */
interface CloudInitArguments {
  /** Where the ISO is written, relative to the project's root. */
  readonly path: string;
  readonly meta_data: string;
  readonly network_config: string;
  /** @default - none: the machine waits in maintenance mode for its config */
  readonly user_data?: string;
  /** What a config for user-data follows from, together with the provider's secrets, which stay out of the state. */
  readonly machine_config?: MachineConfigSettings;
}

/** kubeconfig and talosconfig on disk. */
export interface ClientFilesArguments {
  readonly cluster_name: string;
  /** Addresses that talosctl connects to. */
  readonly endpoints: readonly string[];
  /** Machines that talosctl speaks about when none is named. @default the first of `endpoints` */
  readonly nodes?: readonly string[];
  /** Relative to the project's root. */
  readonly kubeconfig_path: string;
  readonly talosconfig_path: string;
  /** Files whose content is kept in the state as well: kubeconfig, talosconfig. */
  readonly contents?: readonly string[];
  /** Whether a missing file is a change to be made. @default true */
  readonly keep_on_disk?: boolean;
}

/** The kubeconfig and talosconfig of a cluster; all references. */
export interface ClientFiles {
  /** Path of the kubeconfig. */
  readonly kubeconfigPath: string;
  /** Path of the talosconfig. */
  readonly talosconfigPath: string;
  /** Contents of the kubeconfig; only where `contentsInState` lists it. */
  readonly kubeconfig: string;
  /** Contents of the talosconfig; only where `contentsInState` lists it. */
  readonly talosconfig: string;
}

/** A Helm release. */
export interface AddonArguments extends ArgumentsOf<typeof addonSettings> {
  /** Addresses of the control planes. */
  readonly endpoints: readonly string[];
  /** YAML texts; they are in plan and state. */
  readonly values?: readonly string[];
  readonly on_destroy?: string;
}

/** A backup of etcd. */
export interface EtcdSnapshotArguments {
  readonly cluster_name: string;
  /** Addresses of the control planes. */
  readonly endpoints: readonly string[];
  /** Relative to the project's root. Either this or `s3`. */
  readonly directory?: string | undefined;
  readonly s3?: ArgumentsOf<typeof bucketSettings> | undefined;
  readonly pki_age_recipients?: readonly string[] | undefined;
  readonly triggers?: { readonly [name: string]: string } | undefined;
}

export interface TalosmithResources {
  talosmith_addon: AddonArguments;
  talosmith_client_files: ClientFilesArguments;
  talosmith_cloud_init: CloudInitArguments;
  talosmith_cluster: ClusterArguments;
  talosmith_etcd_snapshot: EtcdSnapshotArguments;
  talosmith_member: MemberArguments;
  talosmith_simulated_machine: SimulatedMachineArguments;
}

/** Any resource of our provider; its type decides its arguments. */
export class TalosmithResource<T extends keyof TalosmithResources> extends Resource<TalosmithResources[T]> {
  constructor(scope: Construct, id: string, type: T, args: Arguments<TalosmithResources[T]>, meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }
}
