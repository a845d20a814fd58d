// SPDX-License-Identifier: Apache-2.0
import { Annotations, ref, type TerraformResource, Token } from "cdktn";
import { Construct } from "constructs";
import { patchFilesOf, type ResolvedCluster, type Role, resolveCluster } from "../../model/index.ts";
import {
  type ArgumentsOf,
  argumentsOf,
  clusterSettings,
  machineSettings,
  rolloutSettings,
  type scalingPoolSettings,
} from "../../model/settings/index.ts";
import { given, isGiven } from "../../talos/given.ts";
import { defaultInstallImage, type SchematicChoice } from "../../talos/image/index.ts";
import { contractOf, defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import { checkParts, checkSection } from "../check.ts";
import { refuse } from "../errors.ts";
import {
  type ClientFiles,
  type ClientFilesArguments,
  type ClusterArguments,
  type ClusterSettings,
  MachineConfigDataSource,
  type MachineConfigSettings,
  TalosmithProvider,
  TalosmithResource,
} from "../talosmith/bindings.ts";
import { aliasUnlessFirst, type BindingMeta, Resource } from "../terraform/index.ts";
import { ClusterAddons } from "./cluster-addons.ts";
import { type BackupProps, backupArguments } from "./day-two.ts";
import type { Infrastructure } from "./infrastructure.ts";
import type { Machine, MachineReference, MachineSet } from "./machine.ts";
import { type Move, movesOf } from "./moves.ts";
import { ControlPlane, type Pool, type PoolOwner, type PoolProps } from "./pool.ts";
import { addressList, allRows, firstOf, joinedLists, type MadePool, machineMap } from "./pool-expressions.ts";
import type { AddonProps, ClusterSettingProps, RolloutProps } from "./setting-props.ts";

/** A cluster: its settings, what it runs on, and its control planes. */
export interface TalosClusterProps<Settings> extends ClusterSettingProps {
  /** Name of the cluster and beginning of its machines' names. Can't be changed after creation. */
  readonly name: string;
  /** What the machines run on. */
  readonly infrastructure: Infrastructure<Settings>;
  /** The control planes, or those of another stack that the workers of this one join. */
  readonly controlPlane: (PoolProps & Settings) | JoinedControlPlane;
  /** Secrets bundle, relative to the project's root. @default - secrets/<name>.yaml */
  readonly secretsFile?: string;
  /**
   * Which state this is, of all that could hold the same cluster; another one is refused. May hold references, such as
   * one to terraform.workspace. @default - not checked
   */
  readonly owner?: string;
  /** Client files whose content the state holds as well, for a sensitive output. @default - none */
  readonly contentsInState?: readonly ("kubeconfig" | "talosconfig")[];
  /** How careful changes of machines in use are. @default - the defaults of its settings */
  readonly rollout?: RolloutProps;
  /** Refuse to destroy the cluster and to remove its machines. @default - the infrastructure's */
  readonly deletionProtection?: boolean;
  /** Folder for kubeconfig and talosconfig, relative to the project's root. @default - generated/<name> */
  readonly outputFolder?: string;
}

/** A control plane that another stack owns. */
export interface JoinedControlPlane {
  /** URL of the Kubernetes API. */
  readonly endpoint: string;
  /** Addresses of the control planes' Talos API, as a list or as a reference to one. */
  readonly addresses: readonly string[];
}

/** A Kubernetes cluster on Talos Linux: its machines, their configs, and the files that give access to it. */
export class TalosCluster<Settings = object> extends Construct implements PoolOwner<Settings> {
  readonly clusterName: string;
  readonly talosVersion: string;
  readonly configContract: string;
  /** Kubernetes version without `v`. */
  readonly kubernetesVersion: string;
  readonly infrastructure: Infrastructure<Settings>;
  /** URL of the Kubernetes API; may hold a reference. */
  readonly endpoint: string;
  /** Absent when the workers join the control plane of another stack. */
  readonly controlPlane: ControlPlane<Settings> | undefined;
  readonly schematic: SchematicChoice;
  readonly imageFactory: string | undefined;
  /** The installer that the machines are upgraded with. */
  readonly installImage: string;
  /** kubeconfig and talosconfig; absent when another stack owns the control plane. */
  readonly clientFiles: ClientFiles | undefined;
  /** The `talosmith_cluster` resource, for `dependsOn` of what needs a running cluster. */
  readonly resource: TerraformResource;
  /** Apart from the pools, so that those may have any name. Not part of addresses. */
  readonly #scope: Construct;
  readonly #props: TalosClusterProps<Settings>;
  readonly #version: TalosVersion;
  readonly #pools: Pool<Settings>[] = [];
  /** Of machines that move between pools; the others have a block for each pool. */
  #sharedMembers: TalosmithResource<"talosmith_member"> | undefined;
  readonly #members = new Map<Pool<Settings>, TalosmithResource<"talosmith_member">>();
  readonly #provider: TalosmithProvider;
  readonly #cluster: TalosmithResource<"talosmith_cluster">;
  readonly #addons: ClusterAddons;

  constructor(scope: Construct, id: string, props: TalosClusterProps<Settings>) {
    super(scope, id);
    const faults = validateCluster(props);
    if (faults.length > 0) refuse(this, faults.join("; "));
    checkParts({ kind: props.infrastructure.kind ?? "simulated", cluster: props }, false, () => this);
    this.#props = props;
    this.clusterName = props.name;
    this.imageFactory = props.airGap?.factory;
    this.#version = props.talosVersion === undefined ? defaultTalosVersion : TalosVersion.parse(props.talosVersion);
    this.talosVersion = this.#version.toString();
    const contract = contractOf(props);
    this.configContract = contract.toString();
    const unknown = this.#version.unknownWith(contract);
    if (unknown !== undefined)
      Annotations.of(this).addWarning(
        `talosVersion is ${this.talosVersion}, newer than this talosmith knows. ${unknown}`,
      );
    this.kubernetesVersion = props.kubernetesVersion ?? this.#version.defaultKubernetesVersion;
    this.infrastructure = props.infrastructure;

    this.schematic = props.schematic ?? { extensions: [], kernelArgs: [] };
    this.installImage = this.#resolved().settings.installImage;

    this.#scope = new Construct(this, "Resource");
    this.#provider = this.#createProvider(props.secretsFile ?? `secrets/${props.name}.yaml`, props.owner);
    if (isJoined(props.controlPlane)) this.endpoint = props.controlPlane.endpoint;
    else {
      this.controlPlane = new ControlPlane<Settings>(this, props.controlPlane);
      this.addPool(this.controlPlane);
      this.endpoint = props.endpoint ?? props.infrastructure.endpoint(this.controlPlane.machines);
    }
    const args = () => this.#clusterArguments();
    this.#cluster = new TalosmithResource(this.#scope, "cluster", "talosmith_cluster", args, this.bindingMeta);
    this.resource = this.#cluster;
    this.#addons = new ClusterAddons(this, (id, addon, others) => {
      const meta = { ...this.bindingMeta, dependsOn: [this.resource, ...others] };
      return new TalosmithResource(
        this.#scope,
        id,
        "talosmith_addon",
        { endpoints: this.talosEndpoints, ...addon },
        meta,
      );
    });
    if (this.controlPlane === undefined) return;
    const { kubernetesVersion } = this;
    const { size: controlPlanes } = this.controlPlane;
    for (const addon of props.infrastructure.addons?.({ kubernetesVersion, controlPlanes }) ?? [])
      this.#addons.add(addon, "infrastructure");
    const folder = props.outputFolder ?? `generated/${props.name}`;
    const files = new TalosmithResource(
      this.#scope,
      "client",
      "talosmith_client_files",
      () => this.#clientFilesArguments(folder),
      { ...this.bindingMeta, dependsOn: [this.resource] },
    );
    this.clientFiles = {
      kubeconfigPath: files.attribute("kubeconfig_path"),
      talosconfigPath: files.attribute("talosconfig_path"),
      kubeconfig: files.attribute('files["kubeconfig"]'),
      talosconfig: files.attribute('files["talosconfig"]'),
    };
  }

  /** Its pools, the control planes first; workers by their name: `pools.find(({ poolName }) => poolName === "w")`. */
  get pools(): readonly Pool<Settings>[] {
    return [...this.#pools];
  }

  /** All machines that the cluster knows by name, control planes first. */
  get machines(): readonly Machine[] {
    return this.#pools.flatMap((pool) => pool.machines);
  }

  /** Where the control planes' Talos API is reached. */
  get talosEndpoints(): readonly string[] {
    return this.infrastructure.talosEndpoints ?? this.addresses("controlplane");
  }

  get bindingMeta(): BindingMeta {
    return this.#provider.alias === undefined ? {} : { provider: this.#provider };
  }

  /**
   * Adds a Helm release, installed after the pod network, the add-ons of the infrastructure and those that it names in
   * `after`.
   */
  addAddon(props: AddonProps): void {
    this.#requireControlPlane(`add-on ${props.name}`);
    this.#addons.add(props, props.cni ? "podNetwork" : "other");
  }

  /** Takes a backup of etcd once the cluster is up, and after every upgrade. */
  addBackup(props: BackupProps): void {
    this.#requireControlPlane("backup");
    checkSection(this, "backup", props, "backup");
    if (props.directory === undefined && props.s3 === undefined)
      refuse(this, "backup: expected one of directory and s3");
    if (this.#scope.node.tryFindChild("backup") !== undefined)
      refuse(this, "backup: found a second one; expected one for each cluster");
    new TalosmithResource(
      this.#scope,
      "backup",
      "talosmith_etcd_snapshot",
      {
        cluster_name: this.clusterName,
        endpoints: this.talosEndpoints,
        ...backupArguments(props, this.clusterName),
        triggers: { talos: this.talosVersion, kubernetes: this.kubernetesVersion },
      },
      { ...this.bindingMeta, dependsOn: [this.resource] },
    );
  }

  /** @internal Where each block of 0.1.0, when every machine had its own, is now. */
  moves(): readonly Move[] {
    return this.#made().flatMap(({ pool }) => movesOf(pool, this.#sharedMembers));
  }

  #requireControlPlane(place: string): void {
    if (this.controlPlane === undefined)
      refuse(this, `${place}: the control plane is in another stack; expected to be added to the cluster there`);
  }

  /** Addresses of the Talos API of the machines of a role, or of all: a list or a reference to one. */
  addresses(role?: Role): readonly string[] {
    return addressList(() => this.#made().filter(({ pool }) => role === undefined || pool.role === role));
  }

  /** The pools that have machines by name. */
  #made(): readonly MadePool<Settings>[] {
    return this.#pools.flatMap((pool) => (pool.set === undefined ? [] : [{ pool, set: pool.set }]));
  }

  /** @internal */
  addPool(pool: Pool<Settings>): void {
    this.#pools.push(pool);
    const { set, rows } = pool;
    if (set === undefined) {
      // New machines start from the new template before the others are changed, and stay until the cluster has ended.
      this.#cluster.dependOn(...pool.node.findAll().filter((construct) => construct instanceof Resource));
      return;
    }
    // Also where nothing below has it: the pool's map comes into the stack with it, and not while the stack is written.
    const { forEach } = rows;
    const { reach, talosEndpoints, configSource, machinesMove = false } = this.#props.infrastructure;
    const args = (at: MachineReference) => ({
      name: at.name,
      cluster: this.clusterName,
      machine_id: set.identity(at),
      address: set.address(at),
      ...given({ talos_endpoints: talosEndpoints }),
      ...differs("config_source", configSource, "api"),
      ...this.#onDestroy(),
    });
    const create = (scope: Construct, id: string, meta: BindingMeta) =>
      new TalosmithResource(scope, id, "talosmith_member", args(rows.each), { ...this.bindingMeta, ...meta });
    if (machinesMove)
      this.#sharedMembers ??= create(this.#scope, "machine", {
        forEach: allRows(() => this.#made()),
        formerId: ({ name }) => `machine_${name}`,
      });
    const member = this.#sharedMembers ?? create(pool, "Member", { forEach });
    const needed = [...set.resources, reach].filter(isGiven);
    if (needed.length > 0) member.dependOn(...needed);
    this.#members.set(pool, member);
  }

  /** @internal */
  machineConfig(pool: Pool<Settings>): string {
    const args = () =>
      ({
        ...this.#settings(),
        role: pool.role,
        include_secrets: true,
        ...this.#patchesOf(pool),
      }) as const;
    return new MachineConfigDataSource(pool, "config", args, this.bindingMeta).config;
  }

  /** @internal */
  configSettings(pool: Pool<Settings>, at: MachineReference): MachineConfigSettings {
    return {
      ...this.#settings(),
      role: pool.role,
      hostname: at.name,
      ...given({ patches: this.#patchesFor(pool, at) }),
      ...this.#patchFiles(),
    };
  }

  /** A second cluster in the same stack has other secrets, hence a provider of its own. */
  #createProvider(secretsFile: string, owner: string | undefined): TalosmithProvider {
    const alias = aliasUnlessFirst(this, "talosmith", this.clusterName);
    const args = { secrets_file: secretsFile, ...given({ owner }) };
    return new TalosmithProvider(this.#scope, "talosmith", args, alias);
  }

  #clusterArguments(): ClusterArguments {
    const props = this.#props;
    this.#check();
    return {
      ...this.#settings(),
      machines: this.#machines(),
      ...given({ scaling_pools: this.#scalingPools() }),
      ...(isJoined(props.controlPlane) ? { join: { control_planes: props.controlPlane.addresses } } : {}),
      ...differs("talos_endpoints", props.infrastructure.talosEndpoints, undefined),
      ...differs("trust_on_first_use", props.infrastructure.trustOnFirstUse, false),
      ...differs("config_source", props.infrastructure.configSource, "api"),
      ...differs("rollout", argumentsOf(rolloutSettings, props.rollout ?? {}), {}),
      ...differs("infrastructure_kind", props.infrastructure.kind, undefined),
      ...this.#onDestroy(),
    };
  }

  /** All of it, now that no pool comes any more. */
  #check(): void {
    const { infrastructure, controlPlane } = this.#props;
    const workers = this.#pools.filter(({ role }) => role === "worker");
    const parts = {
      kind: infrastructure.kind ?? "simulated",
      cluster: this.#props,
      ...(infrastructure.settings === undefined ? {} : { infrastructure: infrastructure.settings(this.clusterName) }),
      ...(isJoined(controlPlane) ? {} : { controlPlane }),
      workers: workers.map(({ settings }) => settings),
    };
    checkParts(parts, true, ([section, index]) => {
      if (section === "workers") return workers[Number(index)] ?? this;
      if (section === "controlPlane") return this.controlPlane ?? this;
      return section === "infrastructure" && Construct.isConstruct(infrastructure) ? infrastructure : this;
    });
  }

  #onDestroy(): { readonly on_destroy?: "prevent" } {
    const { deletionProtection, infrastructure } = this.#props;
    return (deletionProtection ?? infrastructure.deletionProtection) ? { on_destroy: "prevent" } : {};
  }

  /** What the settings come to with the pools that are there by now. */
  #resolved(): ResolvedCluster {
    const { infrastructure, ...props } = this.#props;
    return resolveCluster(props, {
      platform: infrastructure.platform,
      workers: this.#pools.filter(({ role }) => role === "worker").reduce((sum, pool) => sum + pool.size, 0),
      certSans: infrastructure.certSans,
      installDisk: infrastructure.installDisk,
      cloudControllerManager: infrastructure.cloudControllerManager,
    });
  }

  #settings(): ClusterSettings {
    const { settings } = this.#resolved();
    const isUsual = this.installImage === defaultInstallImage(this.#version);
    return argumentsOf(clusterSettings, {
      ...settings,
      name: this.clusterName,
      endpoint: this.endpoint,
      talosVersion: this.talosVersion,
      kubernetesVersion: this.kubernetesVersion,
      installImage: isUsual ? undefined : this.installImage,
    });
  }

  /** In the order in which they apply: the nearer to the machine, the later. */
  #patchesFor(pool: Pool<Settings>, at: MachineReference): readonly string[] | undefined {
    const { all, controlPlane, worker, machines } = this.#resolved().patches;
    const ofRole = pool.role === "controlplane" ? controlPlane : worker;
    const lists = [[...all, ...ofRole], pool.set?.patches?.(at) ?? [], pool.patches];
    if (pool.machines.some(({ name }) => machines[name] !== undefined)) {
      pool.rows.column("own_patches", ({ name }) => machines[name] ?? []);
      lists.push(Token.asList(ref(`${at.row}.own_patches`)));
    }
    return joinedLists(lists);
  }

  /** Patches of a pool whose machines are in no list. */
  #patchesOf(pool: Pool<Settings>): ArgumentsOf<typeof scalingPoolSettings> {
    const { all, controlPlane, worker } = this.#resolved().patches;
    const patches = [...all, ...(pool.role === "controlplane" ? controlPlane : worker), ...pool.patches];
    return { ...given({ patches: patches.length === 0 ? undefined : patches }), ...this.#patchFiles() };
  }

  #scalingPools(): ClusterArguments["scaling_pools"] {
    const pools = this.#pools.filter(({ set }) => set === undefined);
    return pools.length === 0
      ? undefined
      : Object.fromEntries(pools.map((pool) => [pool.poolName, this.#patchesOf(pool)]));
  }

  #patchFiles(): { readonly patch_files?: readonly string[] } {
    const files = patchFilesOf(this.#props);
    return files.length === 0 ? {} : { patch_files: files };
  }

  /** The machines of each pool, as a person would write them: one entry for all, whatever their number. */
  #machines(): ClusterArguments["machines"] {
    return machineMap(this.#made().map(({ pool, set }) => ({ rows: pool.rows, entry: this.#entry(pool, set) })));
  }

  #entry(pool: Pool<Settings>, set: MachineSet): ArgumentsOf<typeof machineSettings> {
    const at = pool.rows.loop;
    return argumentsOf(machineSettings, {
      role: pool.role,
      address: set.address(at),
      fingerprint: set.fingerprint?.(at),
      memberId: this.#members.get(pool)?.instance(at.key, "id"),
      hardwareId: set.hardwareId?.(at),
      diskSize: set.diskSize,
      patches: this.#patchesFor(pool, at),
      patchFiles: this.#patchFiles().patch_files,
      providerId: set.providerId?.(at),
      meta: set.meta?.(at),
    });
  }

  #clientFilesArguments(folder: string): ClientFilesArguments {
    const contents = this.#props.contentsInState ?? [];
    return {
      cluster_name: this.clusterName,
      endpoints: this.talosEndpoints,
      // A balancer is no machine that talosctl could be about.
      ...(this.infrastructure.talosEndpoints && { nodes: firstOf(this.addresses("controlplane")) }),
      kubeconfig_path: `${folder}/kubeconfig`,
      talosconfig_path: `${folder}/talosconfig`,
      ...(contents.length === 0 ? {} : { contents }),
      // On a colleague's clone the files are missing, which is no reason to change anything.
      ...(this.infrastructure.onThisComputer ? {} : { keep_on_disk: false }),
    };
  }
}

function isJoined(controlPlane: object): controlPlane is JoinedControlPlane {
  return "addresses" in controlPlane;
}

/** An argument that says more than the provider's default does; the others stay out of the stack. */
function differs<K extends keyof ClusterArguments>(
  name: K,
  value: ClusterArguments[K] | undefined,
  usual: unknown,
): Partial<Pick<ClusterArguments, K>> {
  if (value === undefined || JSON.stringify(value) === JSON.stringify(usual)) return {};
  return { [name]: value } as Partial<Pick<ClusterArguments, K>>;
}

interface ClusterFacts {
  readonly secretsFile?: string;
  readonly outputFolder?: string;
}

const isInside = (path: string | undefined) =>
  path === undefined || !(path.startsWith("/") || path.split("/").includes(".."));

/** What is wrong with the props of a cluster that an environment file does not have, in words. */
function validateCluster({ secretsFile, outputFolder }: ClusterFacts): readonly string[] {
  if (isInside(secretsFile) && isInside(outputFolder)) return [];
  return ["secretsFile or outputFolder leaves the project; expected relative paths without .."];
}
