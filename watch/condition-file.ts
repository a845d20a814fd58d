// SPDX-License-Identifier: Apache-2.0

import { join } from "node:path";
import * as z from "zod";
import { textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import { jsonIn } from "../talos/plain-text.ts";
import { type Conditions, transitionsBetween, withTransitions } from "./conditions.ts";
import { findingsOf } from "./findings.ts";
import type { ClusterObservation } from "./observe-cluster.ts";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
});

const schema = z.object({
  v: z.literal(1),
  cluster: z.array(condition),
  machines: z.record(z.string(), z.array(condition)),
});

export function encodeConditions(conditions: Conditions): string {
  return `${JSON.stringify({ v: 1, ...conditions }, undefined, 2)}\n`;
}

/** Undefined when the text is no record: it holds nothing but times since when, which then begin anew. */
export function parseConditions(text: string): Conditions | undefined {
  const { data } = schema.safeParse(jsonIn(text));
  return data && { cluster: data.cluster, machines: data.machines };
}

/** Since when each condition of an environment is what it is. Safe to delete: the times begin anew. */
function conditionsFile(root: string, environment: string): string {
  return join(root, "generated", environment, "conditions.json");
}

export async function readConditions(root: string, environment: string): Promise<Conditions | undefined> {
  const text = await textIfThere(conditionsFile(root, environment));
  return text === undefined ? undefined : parseConditions(text);
}

export async function writeConditions(root: string, environment: string, conditions: Conditions): Promise<void> {
  await writeFileAtomically(conditionsFile(root, environment), encodeConditions(conditions));
}

/** The conditions of a cluster that was observed once, with times since when from the file, which then has them, too. */
export async function conditionsNow(
  root: string,
  environment: string,
  observation: ClusterObservation,
  now: Date,
): Promise<Conditions> {
  const before = await readConditions(root, environment);
  const conditions = withTransitions(findingsOf(observation, now), before, now);
  if (transitionsBetween(before, conditions).length > 0) await writeConditions(root, environment, conditions);
  return conditions;
}
