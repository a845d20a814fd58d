// SPDX-License-Identifier: Apache-2.0
import type { Timing } from "../engine/index.ts";
import type { Finding } from "../watch/index.ts";
import { idFrom, idOf, keyOf, type Objects } from "./api/objects.ts";
import { poolLabel, roleIn } from "./environment.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import type { MachineObject } from "./kinds/machine.ts";
import type { PoolObject, PoolStatus } from "./kinds/pool.ts";
import { clusterLabel, poolLabelName } from "./machine-objects.ts";
import type { Outcome } from "./runtime/controller.ts";
import type { Informer } from "./runtime/informer.ts";
import { agedConditions } from "./status.ts";

export interface PoolControllerOptions {
  readonly pools: Informer<PoolObject>;
  readonly poolObjects: Objects<PoolObject>;
  readonly clusters: Informer<ClusterObject>;
  readonly machines: Informer<MachineObject>;
  readonly timing: Timing;
}

/** Reports what became of each pool. Its machines are the work of its cluster. */
export class PoolController {
  readonly #options: PoolControllerOptions;

  constructor(options: PoolControllerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { pools, poolObjects, clusters, machines, timing } = this.#options;
    const pool = pools.get(key);
    if (pool === undefined) return undefined;
    const cluster = clusters.all().find((candidate) => refersTo(candidate, key));
    const own = cluster === undefined ? [] : machines.all().filter((machine) => isOf(machine, cluster, pool));
    const status = poolStatusOf(pool, cluster, own, new Date(timing.now()));
    if (JSON.stringify(pool.status) === JSON.stringify(status)) return undefined;
    pools.note(await poolObjects.patchStatus(idOf(pool.metadata), { ...none, ...status }, signal));
    return undefined;
  }
}

const none = { cluster: null, role: null, selector: null };

export function refersTo({ metadata, spec }: ClusterObject, poolKey: string): boolean {
  const { namespace, name } = idFrom(poolKey);
  if (metadata.namespace !== namespace) return false;
  return spec.controlPlaneRef?.name === name || spec.workerRefs.some((reference) => reference.name === name);
}

function isOf({ metadata }: MachineObject, cluster: ClusterObject, pool: PoolObject): boolean {
  return (
    metadata.namespace === cluster.metadata.namespace &&
    metadata.labels[clusterLabel] === cluster.metadata.name &&
    metadata.labels[poolLabelName] === poolLabel(pool, cluster)
  );
}

/** Pure. */
function poolStatusOf(
  pool: PoolObject,
  cluster: ClusterObject | undefined,
  machines: readonly MachineObject[],
  now: Date,
): PoolStatus {
  const { generation, name } = pool.metadata;
  const ready = machines.filter(({ status }) =>
    status.conditions.some(({ type, status }) => type === "Ready" && status === "True"),
  ).length;
  const finding = readyFinding(pool, cluster, machines.length, ready);
  const conditions = agedConditions([finding], pool.status.conditions, { now, generation, current: generation });
  const role = cluster && roleIn(cluster, name);
  return {
    observedGeneration: generation,
    ...(cluster && { cluster: cluster.metadata.name }),
    ...(role && { role }),
    replicas: machines.length,
    readyReplicas: ready,
    ...(cluster && {
      selector: `${clusterLabel}=${cluster.metadata.name},${poolLabelName}=${poolLabel(pool, cluster)}`,
    }),
    conditions,
  };
}

function readyFinding(
  { spec }: PoolObject,
  cluster: ClusterObject | undefined,
  machines: number,
  ready: number,
): Finding {
  const is = (status: Finding["status"], reason: string, message: string) => ({
    type: "Ready",
    status,
    reason,
    message,
  });
  if (cluster === undefined) return is("False", "NotReferenced", "no TalosCluster refers to the pool");
  const counted = `${ready} of ${spec.replicas} machines ready`;
  if (machines > spec.replicas) return is("False", "ScalingDown", `${counted}, ${machines - spec.replicas} to remove`);
  if (machines < spec.replicas) return is("False", "ScalingUp", counted);
  return ready === spec.replicas ? is("True", "AllReady", counted) : is("False", "NotReady", counted);
}

export const keysOfPools = ({ metadata: { namespace }, spec }: ClusterObject): readonly string[] =>
  [...(spec.controlPlaneRef === undefined ? [] : [spec.controlPlaneRef]), ...spec.workerRefs].map(({ name }) =>
    keyOf({ namespace, name }),
  );
