// SPDX-License-Identifier: Apache-2.0
import { configOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import type { NodeConfig } from "../machine/node-config.ts";
import { minorOf } from "../machine/release.ts";
import type { Call } from "./method.ts";

/** The machine's config when it is a control plane; refuses the API otherwise, in the real words. */
export function controlPlaneOnly(call: Call, api: string): NodeConfig {
  const machine = call.machine();
  const config = configOf(machine);
  if (config === undefined && minorOf(machine.talosVersion) >= 1_013) {
    throw new CallError("Unimplemented", `machine type is not set, cannot use ${api} API`);
  }
  if (config?.type !== "controlplane") {
    throw new CallError("Unimplemented", `${api} is only available on control plane nodes`);
  }
  return config;
}
