// SPDX-License-Identifier: Apache-2.0
import { given } from "../talos/given.ts";

type ConditionStatus = "True" | "False" | "Unknown";

/** What was found about one aspect, in the form and with the words of Kubernetes' conditions. */
export interface Finding {
  readonly type: string;
  readonly status: ConditionStatus;
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** For people. Holds no secret. */
  readonly message: string;
}

export interface Condition extends Finding {
  /** When `status` last became what it is, RFC 3339. */
  readonly lastTransitionTime: string;
}

/** The conditions of a cluster and of each of its machines. */
export interface Conditions {
  readonly cluster: readonly Condition[];
  readonly machines: Readonly<Record<string, readonly Condition[]>>;
}

export interface Findings {
  readonly cluster: readonly Finding[];
  readonly machines: Readonly<Record<string, readonly Finding[]>>;
}

/** Gives each finding the time since which it has its status; what was never seen before has it since now. */
export function withTransitions(found: Findings, before: Conditions | undefined, now: Date): Conditions {
  return {
    cluster: aged(found.cluster, before?.cluster ?? [], now),
    machines: Object.fromEntries(
      Object.entries(found.machines).map(([name, list]) => [name, aged(list, before?.machines[name] ?? [], now)]),
    ),
  };
}

function aged(found: readonly Finding[], before: readonly Condition[], now: Date): readonly Condition[] {
  return found.map((finding) => {
    const known = before.find(({ type, status }) => type === finding.type && status === finding.status);
    // Kubernetes counts in whole seconds.
    return { ...finding, lastTransitionTime: known?.lastTransitionTime ?? `${now.toISOString().slice(0, 19)}Z` };
  });
}

export interface Transition {
  /** Undefined: of the cluster. */
  readonly machine?: string;
  readonly from: ConditionStatus | undefined;
  readonly condition: Condition;
}

/** What has another status than before, the cluster's first. */
export function transitionsBetween(before: Conditions | undefined, now: Conditions): readonly Transition[] {
  const of = (list: readonly Condition[], old: readonly Condition[] | undefined, machine?: string) =>
    list.flatMap((condition): Transition[] => {
      const from = old?.find(({ type }) => type === condition.type)?.status;
      return from === condition.status ? [] : [{ from, condition, ...given({ machine }) }];
    });
  return [
    ...of(now.cluster, before?.cluster),
    ...Object.entries(now.machines).flatMap(([name, list]) => of(list, before?.machines[name], name)),
  ];
}

/** To have drifted is bad; everything else is good when it is true. */
export function isGood({ type, status }: Finding): boolean {
  return status === (type === "Drifted" ? "False" : "True");
}

/** One line for a person, the same in every log and on every screen. */
export function conditionText({ type, status, reason, message }: Finding): string {
  return `${type} is ${status}: ${reason}: ${message}`;
}
