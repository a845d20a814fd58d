// SPDX-License-Identifier: Apache-2.0
// TalosMachines: what was observed of each machine, for looking.
import type { MachineState, MachineView } from "../engine/index.ts";
import { stateOf } from "../engine/index.ts";
import { type Environment, machinesOf } from "../model/index.ts";
import { filled, given } from "../talos/given.ts";
import { type ClusterObservation, findingsOf } from "../watch/index.ts";
import { idOf, type ObjectId, type Objects, ownedBy } from "./api/objects.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import type { MachineObject, MachineStatus } from "./kinds/machine.ts";
import { agedConditions, viewsOf } from "./status.ts";

export const clusterLabel = "talosmith.dev/cluster";
export const poolLabelName = "talosmith.dev/pool";
const roleLabel = "talosmith.dev/role";

interface MachineObjectsOptions {
  readonly objects: Objects<MachineObject>;
  /** Those of the cluster that are there. */
  readonly known: readonly MachineObject[];
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** Makes the TalosMachines of a cluster what was observed: creates, updates and deletes them. */
export async function writeMachines(
  cluster: ClusterObject,
  environment: Environment,
  observation: ClusterObservation,
  { objects, known, now, signal }: MachineObjectsOptions,
): Promise<void> {
  const views = viewsOf(observation);
  const pools = new Map(machinesOf(environment).map(({ name, pool }) => [name, pool]));
  const conditions = findingsOf(observation, now).machines;
  const wanted = new Set<string>();
  for (const view of views) {
    const id = machineId(cluster, view.name);
    wanted.add(id.name);
    const pool = pools.get(view.name);
    const before = known.find(({ metadata }) => metadata.name === id.name);
    const present = isCurrent(before, view, pool)
      ? before
      : await applyMachine(cluster, id, view, pool, objects, signal);
    const status: MachineStatus = {
      ...given({
        phase: phaseOf(stateOf(view.name, observation.observed)),
        address: view.address,
        talosVersion: view.talosVersion,
        kubernetesVersion: view.kubeletVersion,
      }),
      conditions: agedConditions(conditions[view.name] ?? [], present?.status.conditions ?? [], {
        now,
        generation: present?.metadata.generation ?? 1,
        current: present?.metadata.generation ?? 1,
      }),
    };
    if (JSON.stringify(present?.status) !== JSON.stringify(status)) await objects.patchStatus(id, status, signal);
  }
  for (const machine of known) if (!wanted.has(machine.metadata.name)) await objects.delete(machine, signal);
}

/** Machines of several clusters may have one name: the cluster's begins it. */
function machineId(cluster: ClusterObject, machine: string): ObjectId {
  const { namespace, name } = idOf(cluster.metadata);
  return { namespace, name: machine.startsWith(`${name}-`) ? machine : `${name}-${machine}` };
}

function isCurrent(object: MachineObject | undefined, { role }: MachineView, pool: string | undefined): boolean {
  return object !== undefined && object.spec.role === role && object.spec.pool === pool;
}

function applyMachine(
  cluster: ClusterObject,
  id: ObjectId,
  { name, role }: MachineView,
  pool: string | undefined,
  objects: Objects<MachineObject>,
  signal: AbortSignal,
): Promise<MachineObject> {
  const labels = given({ [clusterLabel]: cluster.metadata.name, [roleLabel]: role, [poolLabelName]: pool });
  const metadata = { labels, ownerReferences: [ownedBy("TalosCluster", cluster.metadata)] };
  const spec = given({ clusterRef: { name: cluster.metadata.name }, name, role, pool });
  return objects.apply(id, { metadata, spec: filled(spec) }, signal);
}

function phaseOf(state: MachineState): MachineStatus["phase"] {
  if (state.kind === "maintenance") return "Maintenance";
  if (state.kind === "configured") return state.stage === "running" ? "Running" : "Booting";
  return state.kind === "unreachable" && state.onItsWay ? "Booting" : "Unreachable";
}
