// SPDX-License-Identifier: Apache-2.0
import { type ClusterChange, clusterChanges } from "./cluster-change.ts";
import { type Finding, type Level, levels, type Rule } from "./finding.ts";
import type { Action, Plan } from "./plan.ts";
import { clusterRule } from "./rules/cluster.ts";
import { dataRule } from "./rules/data.ts";
import { exposureRule } from "./rules/exposure.ts";
import { machineRule } from "./rules/machines.ts";
import { protectionRule } from "./rules/protection.ts";

const rules: readonly Rule[] = [clusterRule, machineRule, dataRule, exposureRule, protectionRule];

/** A plan as a person wants to read it: what may hurt, then the clusters, then the rest by action. */
export interface Review {
  readonly findings: readonly Finding[];
  readonly clusters: readonly ClusterChange[];
  readonly addresses: Readonly<Record<Action, readonly string[]>>;
  readonly drifted: readonly string[];
  readonly complete: boolean;
  readonly errored: boolean;
}

export function reviewPlan(plan: Plan): Review {
  const findings = rules.flatMap((rule) => rule(plan));
  const of = (action: Action) =>
    plan.changes.filter((change) => change.action === action).map(({ address }) => address);
  return {
    findings: [...levels].reverse().flatMap((level) => findings.filter((finding) => finding.level === level)),
    clusters: clusterChanges(plan),
    addresses: {
      create: of("create"),
      update: of("update"),
      replace: of("replace"),
      delete: of("delete"),
      forget: of("forget"),
    },
    drifted: plan.drifted,
    complete: plan.complete,
    errored: plan.errored,
  };
}

/** True when something as bad as `level`, or worse, was found. */
export function reaches(review: Review, level: Level): boolean {
  return review.findings.some((finding) => levels.indexOf(finding.level) >= levels.indexOf(level));
}
