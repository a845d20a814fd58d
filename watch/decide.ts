// SPDX-License-Identifier: Apache-2.0
import { isRollback, type Step } from "../engine/index.ts";
import { losesData, type Review, stepsOf } from "../review/index.ts";
import { listed } from "./findings.ts";
import { allBehindGates, type ClusterObservation, endingFiles } from "./observe-cluster.ts";

/** What to do about a look. */
export type Verdict =
  | { readonly kind: "nothing" }
  /** It differs, and stays so: `reason` tells why nobody repairs it. */
  | { readonly kind: "report"; readonly reason: string }
  /** A repair has failed a moment ago. */
  | { readonly kind: "later" }
  /** Nothing differs on the machines; Terraform is asked whether its plan has changes, such as those of the file. */
  | { readonly kind: "plan" }
  | { readonly kind: "repair" };

interface Circumstances {
  /** By the file or by the command line. */
  readonly allowed: boolean;
  /** How long a repair that has failed still has to wait, in milliseconds: not a time of day, which may be set. @default 0 */
  readonly rest?: number;
  /** Whether Terraform, where it manages the cluster, is to plan now. @default false */
  readonly planDue?: boolean;
  /** The time of day, in milliseconds. */
  readonly now: number;
  /** What is left to a person. @default needsPerson */
  readonly isGrave?: (step: Step) => boolean;
}

/** Pure: whether a difference is repaired now, later, or by a person. */
export function verdictOn(look: ClusterObservation, circumstances: Circumstances): Verdict {
  const { allowed, rest = 0, now, planDue = false, isGrave = needsPerson } = circumstances;
  const away = unreachableIn(look);
  if (look.steps.length === 0 && endingFiles(look, new Date(now)).length === 0) {
    const mayPlan = allowed && planDue && rest <= 0 && look.obstacle === undefined && away.length === 0;
    return { kind: mayPlan ? "plan" : "nothing" };
  }
  const report = (reason: string): Verdict => ({ kind: "report", reason });
  if (!allowed) return report("operate.repair is false");
  if (look.obstacle !== undefined) return report(look.obstacle);
  const grave = look.steps.filter(isGrave);
  if (grave.length > 0) return report(`a person has to decide: ${listed(grave.map(({ sentence }) => sentence))}`);
  // The engine waits for every machine; here nobody is held up by one that is switched off.
  if (away.length > 0) return report(`machines do not answer: ${away.map(({ name }) => name).join(", ")}`);
  // Whatever else there is can begin; what a killed run left half done is not kept waiting.
  if (look.closed !== undefined && look.steps.length > 0 && allBehindGates(look.steps)) {
    const { opens } = look.closed;
    const next = opens === undefined ? "none opens again" : `the next one opens at ${opens.toISOString()}`;
    return report(`no maintenance window is open: ${next}`);
  }
  if (rest > 0) return { kind: "later" };
  return { kind: "repair" };
}

function unreachableIn({ machines, observed }: ClusterObservation): ClusterObservation["machines"] {
  return machines.filter(({ name }) => {
    const kind = observed.machines.get(name)?.state.kind;
    return kind === undefined || kind === "unreachable" || kind === "foreign";
  });
}

/** What a repair may do to resources: the cluster itself, and the client files that talosmith writes. */
const repairable: Readonly<Record<string, ReadonlySet<string>>> = {
  talosmith_cluster: new Set(["update"]),
  talosmith_client_files: new Set(["create", "update"]),
};

/** The same rule as `needsPerson`, by the sentences that Terraform keeps of steps. */
const graveSentence = /^(?:bootstrap etcd|restore etcd|roll back) /;

/**
 * Why a plan of Terraform is not applied without a person; undefined where it is. Pure. `anyResource`: whether it may change
 * any resource, as where the operator creates clusters.
 */
export function refusalOf(
  { findings, resources, clusters, complete, errored }: Review,
  { closed, anyResource = false }: Pick<ClusterObservation, "closed"> & { readonly anyResource?: boolean },
): string | undefined {
  const person = (what: readonly string[]) => `a person has to decide: ${listed(what)}`;
  if (errored || !complete) return "the plan is not complete";
  const dangers = findings.filter(({ level }) => level === "danger");
  if (dangers.length > 0) return person(dangers.map(({ title, sentence }) => `${title}: ${sentence}`));
  const others = resources.filter(({ type, action }) => repairable[type]?.has(action) !== true);
  if (others.length > 0 && !anyResource) return person(others.map(({ address, action }) => `${action} ${address}`));
  if (clusters.some(({ steps }) => steps === undefined)) return "its steps are known only during the apply";
  const sentences = clusters.flatMap((cluster) => stepsOf(cluster) ?? []);
  const grave = sentences.filter((sentence) => losesData(sentence) || graveSentence.test(sentence));
  if (grave.length > 0) return person(grave);
  const waits = closed !== undefined && sentences.some((sentence) => sentence.includes("a maintenance window is open"));
  return waits ? "no maintenance window is open" : undefined;
}

/**
 * What is never done without a person: whatever loses data, a version that goes back, and the start of an etcd. Control planes that all came back
 * empty look like a new cluster; most likely they want a backup restored.
 */
export function needsPerson(step: Step): boolean {
  if (step.kind === "upgrade-kubernetes") return isRollback(step);
  if (step.kind === "sync-manifests") return step.proxy !== undefined && isRollback(step.proxy);
  return step.destructive || step.kind === "bootstrap-etcd" || step.kind === "restore-etcd";
}

const firstRetry = 30_000;
const longestRetry = 30 * 60_000;

/** How long to wait after this many failures in a row. */
export function retryDelay(failures: number): number {
  return Math.min(longestRetry, firstRetry * 2 ** Math.max(0, Math.min(failures, 20) - 1));
}

/** An interval, up to a tenth shorter or longer, so that many environments do not all look at once. `share`: 0 to 1. */
export function withJitter(interval: number, share: number): number {
  return Math.round(interval * (0.9 + 0.2 * share));
}
