// SPDX-License-Identifier: Apache-2.0
import { Annotations } from "cdktn";
import { Construct } from "constructs";
import { isDnsName } from "../../model/cluster-rules.ts";
import { controlPlanePool, nodePatch, poolInAddresses, type Role } from "../../model/index.ts";
import { controlPlaneSettings, scalingPoolLabel, workerSettings } from "../../model/settings/index.ts";
import type { SchematicChoice } from "../../talos/image/index.ts";
import { Contract } from "../../talos/version/index.ts";
import { refuse } from "../errors.ts";
import type { MachineConfigSettings } from "../talosmith/bindings.ts";
import type { BindingMeta } from "../terraform/index.ts";
import type { Infrastructure } from "./infrastructure.ts";
import { Machine, type MachineReference, MachineRows, type MachineSet } from "./machine.ts";
import type { PoolSettingProps } from "./setting-props.ts";

/** What every pool has; the infrastructure adds settings of its own. */
export interface PoolProps extends PoolSettingProps {
  /** Number of machines. @default - that of `names`, else 1 control plane or 2 workers */
  readonly count?: number;
  /** Their host names. @default - `<cluster>-<pool>-1` and on */
  readonly names?: readonly string[];
}

/** What a pool needs to know of its cluster. */
export interface PoolOwner<Settings> extends Construct {
  /** Name of the cluster. */
  readonly clusterName: string;
  /** Talos release of its machines, such as `v1.13.9`. */
  readonly talosVersion: string;
  /** Version contract of their configs, such as `v1.13`. */
  readonly configContract: string;
  /** What is added to the Talos image. */
  readonly schematic: SchematicChoice;
  /** URL of an image factory; undefined for the public one. */
  readonly imageFactory: string | undefined;
  /** What the machines run on. */
  readonly infrastructure: Infrastructure<Settings>;
  /** Meta-arguments of resources that need the cluster's secrets: the provider that has them. */
  readonly bindingMeta: BindingMeta;
  /** @internal Called by a pool of this cluster once it has its machines. */
  addPool(pool: Pool<Settings>): void;
  /** @internal A reference to the config of a pool's machines. */
  machineConfig(pool: Pool<Settings>): string;
  /** @internal What the config of a pool's machine follows from. */
  configSettings(pool: Pool<Settings>, at: MachineReference): MachineConfigSettings;
}

/** Machines of one role that are alike. */
export abstract class Pool<Settings> extends Construct {
  /** Role of its machines. */
  readonly role: Role;
  /** Name of the pool; part of its machines' names. */
  readonly poolName: string;
  /** Number of machines, including those that an auto scaling group creates and deletes. */
  readonly size: number;
  /** @internal What it was given, with its name. */
  readonly settings: object;
  /** @internal How addresses name it. */
  readonly addressPart: string;
  /** @internal Its machines as Terraform has them. */
  readonly rows: MachineRows;
  /** @internal What makes them; undefined where they come and go by themselves. */
  readonly set: MachineSet | undefined;
  /** Its machines; those of an auto scaling group are not among them. */
  readonly machines: readonly Machine[];
  readonly #patches: string[];

  constructor(cluster: PoolOwner<Settings>, name: string, role: Role, props: PoolProps & Settings) {
    super(cluster, name);
    this.role = role;
    this.poolName = name;
    const usual = (role === "controlplane" ? controlPlaneSettings : workerSettings).count.default;
    const count = props.count ?? props.names?.length ?? usual;
    this.size = count;
    this.addressPart = poolInAddresses(name);
    this.settings = { ...props, count, name };
    if (!Number.isInteger(count) || count < 0)
      refuse(this, `count is ${count}; expected a whole number that is not negative`);
    if (props.names !== undefined) this.#checkNames(props.names);
    const contract = Contract.parse(cluster.configContract);
    const marks = nodePatch(contract, props);
    this.#patches = [...(marks === undefined ? [] : [marks]), ...(props.patches ?? [])];
    const prefix = `${cluster.clusterName}-`;
    // Machines of several pools are instances of one block where they move, so that pools can't shorten their names.
    const isWhole = props.names !== undefined || cluster.infrastructure.machinesMove === true;
    const hostName = (key: string) => (isWhole ? key : `${prefix}${key}`);
    const requests = Array.from({ length: count }, (_, position) => {
      const key = props.names?.[position] ?? `${isWhole ? prefix : ""}${name}-${position + 1}`;
      return { name: hostName(key), role, pool: name, index: position + 1, key };
    });
    this.rows = new MachineRows(this, requests, hostName);
    this.set = cluster.infrastructure.createMachines(this, {
      clusterName: cluster.clusterName,
      talosVersion: cluster.talosVersion,
      configContract: cluster.configContract,
      schematic: cluster.schematic,
      imageFactory: cluster.imageFactory,
      settings: props,
      nodes: props,
      machineConfig: () => cluster.machineConfig(this),
      configSettings: (at) => cluster.configSettings(this, at),
      bindingMeta: cluster.bindingMeta,
      role,
      rows: this.rows,
    });
    const { rows, set } = this;
    // The engine finds machines that come and go by themselves, and their config, by this label.
    const label = nodePatch(contract, { labels: { [scalingPoolLabel]: name } });
    if (set === undefined && label !== undefined) this.#patches.unshift(label);
    this.machines = set === undefined ? [] : requests.map((request) => new Machine(request, rows, set));
  }

  #checkNames(names: readonly string[]): void {
    if (names.length !== this.size) refuse(this, `count is ${this.size}; expected as many as names, ${names.length}`);
    const wrong = names.find((name) => !isDnsName(name) || name.length > 63);
    if (wrong !== undefined)
      refuse(this, `names has ${JSON.stringify(wrong)}; expected host names of at most 63 characters`);
    const twice = names.find((name, position) => names.indexOf(name) !== position);
    if (twice !== undefined) refuse(this, `names has ${twice} twice; expected a name for each machine`);
  }

  /** Talos config patches of its machines, as YAML, in the order in which they apply. */
  get patches(): readonly string[] {
    return [...this.#patches];
  }

  /** Adds a Talos config patch, as YAML, for the machines of this pool. */
  addPatch(patch: string): void {
    this.#patches.push(patch);
  }
}

/** The control planes of a cluster. */
export class ControlPlane<Settings = object> extends Pool<Settings> {
  constructor(cluster: PoolOwner<Settings>, props: PoolProps & Settings) {
    super(cluster, controlPlanePool, "controlplane", props);
    if (this.size % 2 === 0)
      Annotations.of(this).addWarning(
        `count is ${this.size}; an odd number survives as many failures with one machine less`,
      );
  }
}

/** Workers that are alike. Its id is the pool's name. */
export class WorkerPool<Settings = object> extends Pool<Settings> {
  constructor(cluster: PoolOwner<Settings>, id: string, props: PoolProps & Settings) {
    if (cluster.node.tryFindChild(id) !== undefined || id === controlPlanePool)
      refuse(cluster, `found a second pool named ${id}; expected a name of its own for each pool`);
    super(cluster, id, "worker", props);
    cluster.addPool(this);
  }
}
