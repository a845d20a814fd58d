// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { StepAction } from "../step.ts";

/** The step that gives a machine in maintenance mode its initial config. */
export function installOf(
  { trustOnFirstUse }: Pick<DesiredCluster, "trustOnFirstUse">,
  { name, fingerprint }: Pick<DesiredMachine, "name" | "fingerprint">,
): StepAction {
  const trust = trustOnFirstUse && fingerprint === undefined ? ({ trust: "first-use" } as const) : {};
  return { kind: "apply-config", machine: name, effect: "install", ...trust };
}

/** Whether a machine may get its initial config. An endpoint passes none on at all; the step itself says that. */
export function mayInstall(
  { trustOnFirstUse, talosEndpoints }: Pick<DesiredCluster, "trustOnFirstUse" | "talosEndpoints">,
  { fingerprint }: Pick<DesiredMachine, "fingerprint">,
): boolean {
  return fingerprint !== undefined || trustOnFirstUse || talosEndpoints !== undefined;
}

/**
 * Whether machines read their config from user-data. After a reset such a machine must stay off: it would be back in the
 * cluster, perhaps with CAs from before a rotate-ca. Behind Talos endpoints all do: no API gives them a config there.
 */
export function readsUserData({
  configSource,
  talosEndpoints,
}: Pick<DesiredCluster, "configSource" | "talosEndpoints">): boolean {
  return configSource === "user-data" || talosEndpoints !== undefined;
}

/** Why a machine in maintenance mode gets no config. */
export function untrusted(name: string): { readonly message: string; readonly hint: string } {
  return {
    message: `${name} is in maintenance mode and its fingerprint is not known`,
    hint: "The initial config holds all secrets of the cluster. Set the fingerprint that the machine's console shows, let the machine read its config from user-data, or allow whatever answers at its address: trustOnFirstUse: true (trust_on_first_use in HCL).",
  };
}
