// SPDX-License-Identifier: Apache-2.0
// What the operator does about an observation, and what it leaves to a person. Pure.
import { type Step, stateOf } from "../engine/index.ts";
import { type ClusterObservation, needsPerson, verdictOn } from "../watch/index.ts";
import type { ClusterControls } from "./kinds/cluster.ts";
import type { Situation } from "./status.ts";

export interface Circumstances {
  readonly manage: ClusterControls["manage"];
  /** The cluster was ready once: its etcd is never bootstrapped again. */
  readonly wasReady: boolean;
  /** Machines that the spec does not have any more. */
  readonly surplus: ReadonlySet<string>;
  /** Machines of the spec that are still to be made. */
  readonly missing: readonly string[];
  /** Whether Terraform, where it manages the cluster, is to plan now. */
  readonly planDue: boolean;
  readonly now: number;
}

export type Decision =
  | { readonly kind: "work"; readonly name: "Create" | "Update" }
  /** Nothing is done: the situation says why. */
  | { readonly kind: "rest"; readonly situation: Situation };

const rest = (situation: Situation): Decision => ({ kind: "rest", situation });
const person = (reason: string, message: string): Decision => rest({ kind: "person", reason, message });

/** Whether a step is left to a person. */
export function graveFor({
  manage,
  wasReady,
  surplus,
}: Pick<Circumstances, "manage" | "wasReady" | "surplus">): (step: Step) => boolean {
  return (step) => {
    if (manage !== "Create") return needsPerson(step);
    if (step.kind === "bootstrap-etcd") return wasReady;
    // A machine that the spec does not have any more was taken out of it by a person.
    if (step.destructive && surplus.has(step.machine)) return false;
    return needsPerson(step);
  };
}

/** What to do about a cluster that was observed. */
export function decide(observation: ClusterObservation, circumstances: Circumstances): Decision {
  const { manage, wasReady, missing, now, planDue } = circumstances;
  const name = wasReady ? "Update" : "Create";
  if (wasReady && hasLostEtcd(observation)) return restoreNeeded();
  const isGrave = graveFor(circumstances);
  const verdict = verdictOn(observation, { allowed: manage !== "Observe", now, planDue, isGrave });
  switch (verdict.kind) {
    case "nothing":
    case "later":
      return manage === "Create" && missing.length > 0 ? { kind: "work", name } : rest({ kind: "settled" });
    case "plan":
    case "repair":
      return { kind: "work", name };
    case "report":
      if (manage === "Observe") return rest({ kind: "settled" });
      return person(observation.obstacle === undefined ? "NeedsPerson" : "Blocked", verdict.reason);
  }
}

/** All control planes are empty: a plan would make a new etcd, or the engine refuses because workers are left. */
function hasLostEtcd({ machines, observed, steps }: ClusterObservation): boolean {
  const planes = machines.filter(({ role }) => role === "controlplane");
  const empty = planes.filter(({ name }) => stateOf(name, observed).kind === "maintenance");
  return empty.length === planes.length || steps.some(({ kind }) => kind === "bootstrap-etcd");
}

const restoreNeeded = () =>
  rest({
    kind: "restore-needed",
    message:
      "the control planes have no etcd data, but the cluster was ready before: restore a backup with talosmith restore, or delete this object and its Secret to start over",
  });

/** What to do about a cluster of which no machine could be observed, because none is deployed. */
export function decideAbsent(
  message: string,
  { manage, wasReady, bundle }: Pick<Circumstances, "manage" | "wasReady"> & { readonly bundle: boolean },
): Decision {
  if (wasReady && !bundle)
    return person(
      "SecretsLost",
      "the cluster was ready before, but its secrets bundle is gone: restore the Secret from a backup. New secrets would not fit the machines",
    );
  if (wasReady)
    return rest({ kind: "restore-needed", message: `the cluster was ready before, and is gone: ${message}` });
  return manage === "Create" ? { kind: "work", name: "Create" } : rest({ kind: "absent", message });
}
