// SPDX-License-Identifier: Apache-2.0
import type { Kind } from "../model/index.ts";

/** Kinds whose machines need no Terraform: simulated ones are made by the simulator, metal ones are there already. */
export function runsWithoutTerraform(kind: Kind): kind is "simulated" | "metal" {
  return kind === "simulated" || kind === "metal";
}
