// SPDX-License-Identifier: Apache-2.0
// What a TalosCluster's status says, from what is known of the cluster. Pure.
import { type MachineView, machineView } from "../engine/index.ts";
import { given } from "../talos/given.ts";
import { type ClusterObservation, type Finding, findingsOf } from "../watch/index.ts";
import type { ClusterObject, ClusterOperation, ClusterStatus } from "./kinds/cluster.ts";
import type { StatusCondition } from "./kinds/common.ts";

/** Why nothing is done, or what is. */
export type Situation =
  /** The spec is refused. */
  | { readonly kind: "invalid"; readonly message: string }
  /** Nothing was observed, because there is nothing yet. */
  | { readonly kind: "absent"; readonly message: string }
  /** Only a person may go on: `reason` in one word. */
  | { readonly kind: "person"; readonly reason: string; readonly message: string }
  /** Control planes of a cluster that was ready are empty, or gone. */
  | { readonly kind: "restore-needed"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "working"; readonly operation: ClusterOperation }
  | { readonly kind: "settled" };

export interface Known {
  readonly object: ClusterObject;
  readonly situation: Situation;
  /** The last observation, if there is one that still counts. */
  readonly observation?: ClusterObservation | undefined;
  readonly endpoint?: string | undefined;
  /** Of a cluster that is deployed. */
  readonly configContract?: string | undefined;
  readonly now: Date;
}

export function clusterStatus(known: Known): ClusterStatus {
  const { object, situation, observation, endpoint, configContract, now } = known;
  const { status, metadata, spec } = object;
  const observed = observation === undefined ? [] : findingsOf(observation, now).cluster;
  const views = observation === undefined ? [] : viewsOf(observation);
  const isWorking = situation.kind === "working";
  // Until the work is done, conditions keep the generation that they were observed for.
  const generation = isWorking ? status.observedGeneration : metadata.generation;
  const kept = isWorking || situation.kind === "failed" ? status.conditions : [];
  const found = observed.length > 0 ? observed : kept.filter(({ type }) => !ownTypes.has(type));
  const readySince = status.readySince ?? (isReady(observed) ? timestampOf(now) : undefined);
  const findings = [...withReady(found, situation), ...ownFindings(situation, { wasReady: readySince !== undefined })];
  const infrastructure = spec.infrastructure as { readonly kind?: string } | undefined;
  const ready = views.filter(({ health }) => health === "ready").length;
  return given({
    observedGeneration: generation,
    phase: phaseOf(situation, findings, readySince !== undefined),
    kind: infrastructure?.kind,
    endpoint: endpoint ?? status.endpoint,
    configContract: status.configContract ?? configContract,
    talosVersion: oldest(views.map(({ talosVersion }) => talosVersion)) ?? status.talosVersion,
    kubernetesVersion: oldest(views.map(({ kubeletVersion }) => kubeletVersion)) ?? status.kubernetesVersion,
    ...(observation === undefined
      ? kept.length > 0 && { machines: status.machines, readyMachines: status.readyMachines }
      : { machines: views.length, readyMachines: ready }),
    machineSummary: observation === undefined ? status.machineSummary : `${ready}/${views.length}`,
    members: observation === undefined ? status.members : membersOf(views),
    operation: isWorking ? situation.operation : undefined,
    readySince,
    conditions: agedConditions(findings, status.conditions, given({ now, generation, current: metadata.generation })),
  });
}

const ownTypes: ReadonlySet<string> = new Set(["Ready", "Progressing", "Degraded", "SpecValid", "RestoreNeeded"]);

const is = (type: string, status: Finding["status"], reason: string, message: string): Finding => ({
  type,
  status,
  reason,
  message,
});

const isReady = (findings: readonly Finding[]) =>
  findings.some(({ type, status }) => type === "Ready" && status === "True");

/** The machines say whether it is ready; where none could be asked, the situation does. */
function withReady(found: readonly Finding[], situation: Situation): readonly Finding[] {
  if (situation.kind === "restore-needed")
    return [is("Ready", "False", "RestoreNeeded", situation.message), ...found.filter(({ type }) => type !== "Ready")];
  if (found.some(({ type }) => type === "Ready")) return found;
  const ready = (status: Finding["status"], reason: string, message: string) => [
    is("Ready", status, reason, message),
    ...found,
  ];
  switch (situation.kind) {
    case "invalid":
      return ready("False", "InvalidSpec", situation.message);
    case "working":
      return ready(
        "False",
        situation.operation.name === "Create" ? "Creating" : "Updating",
        situation.operation.message,
      );
    case "person":
      return ready("False", situation.reason, situation.message);
    case "failed":
      return ready("False", "Failed", situation.message);
    case "absent":
      return ready("False", "NotDeployed", situation.message);
    default:
      return ready("Unknown", "NotObserved", "the cluster was not observed");
  }
}

function ownFindings(situation: Situation, { wasReady }: { readonly wasReady: boolean }): readonly Finding[] {
  const valid =
    situation.kind === "invalid"
      ? is("SpecValid", "False", "InvalidSpec", situation.message)
      : is("SpecValid", "True", "Accepted", "the spec is an environment without errors");
  const restore =
    situation.kind === "restore-needed"
      ? is("RestoreNeeded", "True", "ControlPlanesEmpty", situation.message)
      : is("RestoreNeeded", "False", "NotNeeded", "no control plane has lost its data");
  return [progressing(situation), degraded(situation, wasReady), valid, restore];
}

function progressing(situation: Situation): Finding {
  if (situation.kind === "working") {
    const { name, step, steps, message } = situation.operation;
    return is("Progressing", "True", name, `step ${step} of ${steps}: ${message}`);
  }
  if (situation.kind === "failed") return is("Progressing", "True", "Retrying", situation.message);
  return is("Progressing", "False", "Idle", "nothing is being changed");
}

function degraded(situation: Situation, wasReady: boolean): Finding {
  switch (situation.kind) {
    case "failed":
      return is("Degraded", "True", "Failed", situation.message);
    case "person":
      return is("Degraded", "True", situation.reason, situation.message);
    case "restore-needed":
      return is("Degraded", "True", "RestoreNeeded", situation.message);
    case "invalid":
      return is("Degraded", wasReady ? "True" : "False", "InvalidSpec", situation.message);
    default:
      return is("Degraded", "False", "AsExpected", "nothing is in the way");
  }
}

function phaseOf(situation: Situation, findings: readonly Finding[], wasReady: boolean): ClusterStatus["phase"] {
  switch (situation.kind) {
    case "invalid":
      return "Invalid";
    case "restore-needed":
      return "RestoreNeeded";
    case "absent":
      return "Pending";
    case "working":
      if (situation.operation.name === "Delete") return "Deleting";
      return wasReady ? "Updating" : "Creating";
    default:
      return isReady(findings) ? "Ready" : wasReady ? "NotReady" : "Pending";
  }
}

/** With the time since which each has its status, and the generation that it is about. */
export function agedConditions(
  findings: readonly Finding[],
  before: readonly StatusCondition[],
  { now, generation, current }: { readonly now: Date; readonly generation?: number; readonly current: number },
): StatusCondition[] {
  return findings.map(({ type, status, reason, message }) => {
    const known = before.find((condition) => condition.type === type && condition.status === status);
    const about = type === "Progressing" || type === "SpecValid" ? current : generation;
    return {
      type,
      status,
      ...(about !== undefined && { observedGeneration: about }),
      lastTransitionTime: known?.lastTransitionTime ?? timestampOf(now),
      reason,
      message: shortened(message),
    };
  });
}

/** The API accepts up to 32 KiB, which is too long to read. */
const shortened = (message: string) => (message.length > 2_000 ? `${message.slice(0, 2_000)}…` : message);

/** Kubernetes writes whole seconds. */
export const timestampOf = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

export function viewsOf({ machines, observed }: ClusterObservation): readonly MachineView[] {
  const names = new Set(machines.map(({ name }) => name));
  const leaving = [...observed.machines.values()].filter(({ name }) => !names.has(name));
  return [...machines, ...leaving].map(({ name, role }) =>
    machineView({ name, role, address: observed.machines.get(name)?.address ?? "" }, observed),
  );
}

const membersOf = (views: readonly MachineView[]) => views.map(({ name, role, address }) => ({ name, role, address }));

function oldest(versions: readonly (string | undefined)[]): string | undefined {
  const known = versions.filter((version) => version !== undefined && version !== "");
  return known.sort((left, right) => (left ?? "").localeCompare(right ?? "", "en", { numeric: true }))[0];
}
