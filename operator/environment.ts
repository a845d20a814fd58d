// SPDX-License-Identifier: Apache-2.0
// A TalosCluster as an environment file: the spec is the file, with its pools in their places.
import { controlPlanePool } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { AddonObject } from "./kinds/addon.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import type { PoolObject } from "./kinds/pool.ts";

/** The text of the environment file; JSON is YAML. `patchFiles`: with patches that hold secrets. Throws where a pool that it refers to is not there. */
export function environmentText(
  cluster: ClusterObject,
  pools: ReadonlyMap<string, PoolObject>,
  patchFiles: readonly string[] = [],
): string {
  const { manage: _, deletionPolicy: __, controlPlaneRef, workerRefs, workers = [], ...sections } = cluster.spec;
  const poolNamed = (name: string): PoolObject => {
    const pool = pools.get(name);
    if (pool !== undefined) return pool;
    throw new TalosError("failed-precondition", `there is no TalosMachinePool ${name}`, {
      hint: "Create it, or remove the reference.",
    });
  };
  const referred = workerRefs.map(({ name }) => workerPool(poolNamed(name), cluster));
  const own = Array.isArray(workers) ? (workers as readonly unknown[]) : [];
  const controlPlane = controlPlaneRef && fieldsOf(poolNamed(controlPlaneRef.name));
  const environment = {
    ...sections,
    cluster: {
      ...withContract(sections.cluster, cluster.status.configContract),
      ...(patchFiles.length > 0 && { patchFiles }),
    },
    ...(controlPlane && { controlPlane }),
    workers: [...own, ...referred],
  };
  return `${JSON.stringify(environment, undefined, 2)}\n`;
}

/** The contract is decided when a cluster is created, and stays when its Talos version moves on. */
function withContract(section: unknown, contract: string | undefined): object {
  return { ...(contract !== undefined && { configContract: contract }), ...(section as object | undefined) };
}

function workerPool(pool: PoolObject, cluster: ClusterObject) {
  return { name: poolName(pool, cluster), ...fieldsOf(pool) };
}

function fieldsOf({ spec }: PoolObject) {
  const { replicas, pool: _, ...fields } = spec;
  return { count: replicas, ...fields };
}

/** What a pool is called in its cluster: the pool lab-web of the cluster lab is its pool web. */
function poolName({ metadata: { name }, spec }: PoolObject, cluster: ClusterObject): string {
  const beginning = `${cluster.metadata.name}-`;
  return spec.pool ?? (name.startsWith(beginning) ? name.slice(beginning.length) : name);
}

/** The environment of a cluster with one add-on and no other: what the object says is checked as a part of the file. */
export function withAddonAlone(environment: string, addon: AddonObject): string {
  const { clusterRef: _, deletionPolicy: __, ...fields } = addon.spec;
  const alone = { name: addon.metadata.name, ...fields };
  return JSON.stringify({ ...(JSON.parse(environment) as object), addons: [alone] });
}

/** The release that an object asks for. */
export function releaseOf({ metadata, spec }: AddonObject): { readonly name: string; readonly namespace: string } {
  const name = typeof spec.name === "string" ? spec.name : metadata.name;
  return { name, namespace: typeof spec.namespace === "string" ? spec.namespace : name };
}

/** How a cluster refers to a pool; undefined where it does not. */
export function roleIn(cluster: ClusterObject, pool: string): "controlplane" | "worker" | undefined {
  if (cluster.spec.controlPlaneRef?.name === pool) return "controlplane";
  return cluster.spec.workerRefs.some(({ name }) => name === pool) ? "worker" : undefined;
}

/** The name that the pool's machines have in their labels. */
export function poolLabel(pool: PoolObject, cluster: ClusterObject): string {
  return roleIn(cluster, pool.metadata.name) === "controlplane" ? controlPlanePool : poolName(pool, cluster);
}
