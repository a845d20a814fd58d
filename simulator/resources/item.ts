// SPDX-License-Identifier: Apache-2.0
import type { NodeConfig } from "../machine/node-config.ts";
import type { Cluster, Machine, World } from "../machine/world.ts";

/** One resource as its controller puts it out; version and times are kept by whoever serves it. */
export interface Item {
  readonly id: string;
  /** Where others refer to it; else whoever serves the resource counts its changes. */
  readonly version?: number;
  /** The YAML form. */
  readonly spec: unknown;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What resources are made from. */
export interface View {
  readonly world: World;
  readonly machine: Machine;
  readonly now: number;
  /** Absent in maintenance mode. */
  readonly config: NodeConfig | undefined;
  readonly cluster: Cluster | undefined;
  readonly hostname: string;
}

/** Makes all resources of one type. */
export type Producer = (view: View) => readonly Item[];

/** What resources of a machine with a config are made from. */
export type ConfiguredView = View & { readonly config: NodeConfig };

/** Items that only a machine with a config has. */
export const configured =
  (items: (view: ConfiguredView) => readonly Item[]): Producer =>
  (view) =>
    view.config === undefined ? [] : items({ ...view, config: view.config });

/** Items that only a control plane has. */
export const controlPlane = (items: (view: ConfiguredView) => readonly Item[]): Producer =>
  configured((view) => (view.config.type === "controlplane" ? items(view) : []));

/** The one item of its type; of a machine with a config; of a control plane. */
export const only =
  <V>(id: string, spec: (view: V) => unknown) =>
  (view: V): readonly Item[] => [{ id, spec: spec(view) }];
export const onlyConfigured = (id: string, spec: (view: ConfiguredView) => unknown): Producer =>
  configured(only(id, spec));
export const onlyControlPlane = (id: string, spec: (view: ConfiguredView) => unknown): Producer =>
  controlPlane(only(id, spec));

/** A resource with what its store adds: version and times. */
export interface StoredResource {
  readonly namespace: string;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly owner: string;
  readonly created: number;
  readonly updated: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly yaml: string;
  readonly proto: Uint8Array;
  /** Of the content, to see changes. */
  readonly hash: string;
}
