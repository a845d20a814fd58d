// SPDX-License-Identifier: Apache-2.0
import { isMap, isSeq, parseDocument } from "yaml";
import { TalosError } from "../../talos/errors.ts";
import { parseYamlDocument } from "../../talos/yaml/index.ts";
import { editValue } from "./edit-value.ts";
import { controlPlanePool } from "./environment.ts";

/** The text of an environment file with another number of machines in a pool; the control planes are the pool `cp`. */
export function withCount(text: string, file: string, pool: string, count: number): string {
  if (pool === controlPlanePool) return editValue(text, file, ["controlPlane", "count"], String(count));
  // Refuses what the loader refuses, and what the yaml package alone would choke on.
  parseYamlDocument(text, file);
  const workers = parseDocument(text).get("workers");
  const pools = isSeq(workers) ? workers.items : [];
  // A pool without a name is called w.
  const index = pools.findIndex((item) => isMap(item) && (item.get("name") ?? "w") === pool);
  if (index < 0) {
    throw new TalosError("not-found", `${file} has no pool of workers called ${pool}`, {
      hint: "If environments/base.yaml has it, change it there, or write the pools into the environment's file.",
    });
  }
  return editValue(text, file, ["workers", index, "count"], String(count));
}
