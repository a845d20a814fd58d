// SPDX-License-Identifier: Apache-2.0
import type { Machine } from "./world.ts";

/** What listens on the machine's port 50000: nothing, the API without client certificates, or the API with them. */
export type ServerMode = "none" | "maintenance" | "secure";

export function serverModeOf(machine: Machine): ServerMode {
  if (machine.services.apid?.stage !== "Running") return "none";
  return machine.life.stage === "maintenance" ? "maintenance" : "secure";
}
