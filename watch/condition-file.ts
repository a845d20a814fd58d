// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import type { ClusterLook } from "./cluster-observation.ts";
import { type Conditions, withTransitions } from "./condition.ts";
import { encodeConditions, parseConditions } from "./condition-record.ts";
import { findingsOf } from "./findings.ts";

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

/** The conditions of a cluster now, remembered for whoever looks next. */
export async function conditionsNow(
  root: string,
  environment: string,
  look: ClusterLook,
  now: Date,
): Promise<Conditions> {
  const before = await readConditions(root, environment);
  const conditions = withTransitions(findingsOf(look, now), before, now);
  if (before === undefined || encodeConditions(before) !== encodeConditions(conditions))
    await writeConditions(root, environment, conditions);
  return conditions;
}
