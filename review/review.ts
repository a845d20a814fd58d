// SPDX-License-Identifier: Apache-2.0
import { type ClusterChange, clusterChanges } from "./cluster-change.ts";
import { type Change, changedAttributes, type Finding, type Level, levels, type Plan, type Rule } from "./plan.ts";
import { clusterRule } from "./rules/cluster.ts";
import { dataRule, exposureRule, machineRule, placeholderRule, protectionRule } from "./rules/resources.ts";

const rules: readonly Rule[] = [clusterRule, machineRule, dataRule, exposureRule, placeholderRule, protectionRule];

/** A plan as a person wants to read it: what may hurt, then the clusters, then every resource. */
export interface Review extends Pick<Plan, "drifted" | "basis" | "complete" | "errored"> {
  readonly findings: readonly Finding[];
  readonly clusters: readonly ClusterChange[];
  readonly resources: readonly ResourceChange[];
}

export interface ResourceChange extends Pick<Change, "address" | "type" | "action" | "replacedFor"> {
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
      const { address, type, action, replacedFor } = change;
      return { address, type, action, attributes: changedAttributes(change), replacedFor };
    }),
    drifted,
    basis,
    complete,
    errored,
  };
}

/** True when something as bad as `level`, or worse, was found. */
export function reaches(review: Review, level: Level): boolean {
  return review.findings.some((finding) => levels.indexOf(finding.level) >= levels.indexOf(level));
}
