// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../environment/environment.ts";
import type { Path } from "../environment/yaml-source.ts";
import type { Kind } from "../schema/index.ts";

/** What is wrong with an environment whose every field is right by itself. */
export interface Violation {
  readonly severity: "error" | "warning";
  readonly path: Path;
  /** @default the value at the path, as it is written */
  readonly found?: string;
  readonly expected: string;
  readonly hint: string;
  /** A second place that has to do with it. */
  readonly also?: Path | undefined;
}

/** One violation, or a list of such. */
export type Found = Violation | readonly Found[];

export type Rule = (environment: Environment) => Found;
export type Rules = Readonly<Record<string, Rule>>;

/** All that breaks a rule, in the order of the rules. */
export function violationsOf(environment: Environment, rules: readonly Rule[]): readonly Violation[] {
  return rules.flatMap((rule) => inOneList(rule(environment)));
}

function inOneList(found: Found): readonly Violation[] {
  return "severity" in found ? [found] : found.flatMap(inOneList);
}

/** A rule for environments of one kind. */
export function ruleFor<K extends Kind>(
  kind: K,
  rule: (environment: Extract<Environment, { kind: K }>) => Found,
): Rule {
  return (environment) => (environment.kind === kind ? rule(environment as Extract<Environment, { kind: K }>) : []);
}

/** The control planes, where there are any, and each pool of workers, with their places. */
export function poolsOf<C, W>({
  controlPlane,
  workers,
}: {
  readonly controlPlane?: C;
  readonly workers: readonly W[];
}) {
  const pools = workers.map((pool, index): Placed<C | W> => ({ role: "worker", path: ["workers", index], pool }));
  if (controlPlane !== undefined) pools.unshift({ role: "controlplane", path: ["controlPlane"], pool: controlPlane });
  return pools;
}

interface Placed<P> {
  readonly role: "controlplane" | "worker";
  readonly path: Path;
  readonly pool: P;
}

/** The place of a pool by its name; control planes have none. */
export function poolPath({ workers }: Pick<Environment, "workers">, name: string): Path {
  const index = workers.findIndex((pool) => pool.name === name);
  return index === -1 ? ["controlPlane"] : ["workers", index];
}

export function error(violation: Omit<Violation, "severity">): Violation {
  return { severity: "error", ...violation };
}

export function warning(violation: Omit<Violation, "severity">): Violation {
  return { severity: "warning", ...violation };
}

/** Why an even number of control planes is unwise. */
export const noMoreFailures = (count: number) =>
  `With ${count} control planes etcd survives no more failures than with ${count - 1}.`;
