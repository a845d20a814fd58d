// SPDX-License-Identifier: Apache-2.0
import { type ClusterChange, clusterChanges } from "./cluster-change.ts";
import {
  type Action,
  backupType,
  type Change,
  changedAttributes,
  type Finding,
  type Level,
  levels,
  type Plan,
  type Rule,
} from "./plan.ts";
import { clusterRule } from "./rules/cluster.ts";
import { machineName, machineTypes } from "./rules/machines.ts";
import {
  clientFilesType,
  dataRule,
  exposureRule,
  machineRule,
  placeholderRule,
  protectionRule,
  templateRule,
} from "./rules/resources.ts";

const rules: readonly Rule[] = [
  clusterRule,
  machineRule,
  dataRule,
  exposureRule,
  placeholderRule,
  protectionRule,
  templateRule,
];

/** A plan as a person wants to read it: what may hurt, then the clusters, then every resource. */
export interface Review extends Pick<Plan, "drifted" | "basis" | "complete" | "errored"> {
  readonly findings: readonly Finding[];
  readonly clusters: readonly ClusterChange[];
  readonly resources: readonly ResourceChange[];
}

export interface ResourceChange extends Pick<Change, "address" | "type" | "action" | "replacedFor"> {
  /** Its machine, its files, or its address without the type. */
  readonly name: string;
  /** The names of the attributes that an update or a replacement changes. */
  readonly attributes: readonly string[];
}

export function reviewPlan(plan: Plan): Review {
  const { drifted, basis, complete, errored } = plan;
  const findings = rules.flatMap((rule) => rule(plan));
  return {
    findings: [...levels].reverse().flatMap((level) => findings.filter((finding) => finding.level === level)),
    clusters: clusterChanges(plan),
    resources: plan.changes.map((change) => {
      const { address, type, replacedFor } = change;
      return {
        address,
        type,
        action: actionOn(change),
        name: nameOf(change),
        attributes: changedAttributes(change),
        replacedFor,
      };
    }),
    drifted,
    basis,
    complete,
    errored,
  };
}

/** What happens to the thing itself: a backup stays where it is when its resource goes, unless the resource says otherwise. */
function actionOn({ type, action, before }: Change): Action {
  const keeps = type === backupType && action === "delete" && before?.on_destroy !== "remove";
  return keeps ? "forget" : action;
}

/** Whether a resource is a machine, of whichever kind. */
export function isMachine({ type }: Pick<ResourceChange, "type">): boolean {
  return machineTypes.has(type);
}

function nameOf({ address, type, before, after }: Change): string {
  const values = after ?? before;
  const machine = machineTypes.has(type) ? machineName(values) : undefined;
  if (typeof machine === "string") return machine;
  const paths = type === clientFilesType ? [values?.kubeconfig_path, values?.talosconfig_path] : [];
  const files = paths.filter(isText);
  return files.length > 0 ? files.join(", ") : shortName(address, type);
}

const isText = (value: unknown): value is string => typeof value === "string";

/** An address without its type; inside of a module it stays whole. */
export function shortName(address: string, type: string): string {
  return address.startsWith(`${type}.`) ? address.slice(type.length + 1) : address;
}

/** True when something as bad as `level`, or worse, was found. */
export function reaches(review: Review, level: Level): boolean {
  return review.findings.some((finding) => levels.indexOf(finding.level) >= levels.indexOf(level));
}
