// SPDX-License-Identifier: Apache-2.0
import type * as z from "zod";
import type { Patches } from "../resolve-cluster.ts";
import type {
  AddonSection,
  Backend,
  BackupSection,
  ClusterSection,
  Kind,
  kinds,
  OperateSection,
  RolloutSection,
  StorageSection,
} from "../schema/index.ts";
import type { Fault } from "./fault.ts";
import { namesOf } from "./metal.ts";

/** By the time that an environment is loaded, each patch is YAML text and each pool has a size. */
type Complete<P> = Omit<P, "patches" | "count"> & {
  readonly patches: readonly string[];
  /** Number of machines; a metal environment's file lists them instead. */
  readonly count: number;
};

type ControlPlane<K extends Kind = Kind> = Complete<z.output<(typeof kinds)[K]["controlPlane"]>>;
type WorkerPool<K extends Kind = Kind> = Complete<z.output<(typeof kinds)[K]["worker"]>>;
type Infrastructure<K extends Kind = Kind> = z.output<(typeof kinds)[K]["infrastructure"]>;

type Cluster = Omit<ClusterSection, "name" | "kubernetesVersion" | "configContract" | "patches"> & {
  readonly name: string;
  readonly kubernetesVersion: string;
  /** The file's; else that of the cluster in its local Terraform state; else that of the Talos version. */
  readonly configContract: string;
  readonly patches: Patches;
};

interface EnvironmentOf<K extends Kind> {
  /** The file's name without `.yaml`; also the stack's. */
  readonly name: string;
  /** Path of the file from the project's root. */
  readonly file: string;
  readonly kind: K;
  readonly cluster: Cluster;
  readonly infrastructure: Infrastructure<K>;
  /** Absent when these are workers of another environment's control plane. */
  readonly controlPlane?: ControlPlane<K>;
  readonly workers: readonly WorkerPool<K>[];
  /** The environment whose control plane the workers join, when this one has none of its own. */
  readonly joins?: Environment;
  readonly secrets: { readonly file: string };
  readonly backend: Backend;
  /** Which credentials are sensitive outputs, and so in the state. */
  readonly outputs: { readonly kubeconfig: boolean; readonly talosconfig: boolean };
  /** Absent when nothing is said of backups. */
  readonly backup?: BackupSection;
  readonly addons: readonly AddonSection[];
  readonly storage: StorageSection;
  readonly rollout: RolloutSection;
  readonly operate: OperateSection;
  readonly warnings: readonly Fault[];
}

/** One environment file, merged with its base, checked, with every default filled in. */
export type Environment = { [K in Kind]: EnvironmentOf<K> }[Kind];

/** Role of a machine in its cluster. */
export type Role = "controlplane" | "worker";

/** One machine that an environment asks for. */
export interface MachinePlan {
  /** Host name: `<cluster>-<pool>-<index>`, or as a metal environment's file has it. */
  readonly name: string;
  /** Without the cluster's name: `cp-1`, `w-2`. */
  readonly shortName: string;
  readonly role: Role;
  readonly pool: string;
  /** Place in its pool, from one. */
  readonly index: number;
}

/** The name that control planes have in place of a pool's. */
export const controlPlanePool = "cp";

/** Pools that a file need not name. */
const usualPools = new Map([
  [controlPlanePool, "control-plane"],
  ["w", "worker"],
]);

/** How Terraform addresses name a pool: as people would, where the file gives no name. */
export const poolInAddresses = (pool: string): string => usualPools.get(pool) ?? pool;

export type MetalEnvironment = Extract<Environment, { kind: "metal" }>;

/** The machines that have names of the file. Those of pools with `scaling` come and go, and are named after their instances. */
export function listedMachinesOf(environment: Environment): readonly MachinePlan[] {
  const scaling = environment.kind === "aws" ? environment.workers.filter((pool) => pool.scaling !== undefined) : [];
  const names = new Set(scaling.map(({ name }) => name));
  return machinesOf(environment).filter(({ pool }) => !names.has(pool));
}

/** The machines that an environment starts with, control planes first, in the order of the file. */
export function machinesOf(environment: Environment): readonly MachinePlan[] {
  const { controlPlane, workers } = environment;
  const planes = { name: controlPlanePool, role: "controlplane", count: controlPlane?.count ?? 0 } as const;
  const pools = [planes, ...workers.map(({ name, count }) => ({ name, role: "worker" as const, count }))];
  return pools.flatMap((pool) => {
    const names = environment.kind === "metal" ? namesOf(environment.infrastructure, workers, pool) : undefined;
    return Array.from({ length: pool.count }, (_, position) => {
      const given = names?.[position];
      const shortName = given ?? `${pool.name}-${position + 1}`;
      const name = given ?? `${environment.cluster.name}-${shortName}`;
      return { name, shortName, role: pool.role, pool: pool.name, index: position + 1 };
    });
  });
}
