// SPDX-License-Identifier: Apache-2.0
import { bootstrapTarget, type DesiredCluster, type DesiredMachine } from "../desired.ts";
import type { ConfiguredMachine, ObservedCluster } from "../observed.ts";
import type { StepAction } from "../step.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { configured } from "./quorum.ts";

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

/** Adds the start of etcd where none exists; returns its id for others to wait for. */
export function planBootstrap(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
): readonly string[] {
  if (bootstrapObstacle(desired, observed) !== undefined) return [];
  const target = bootstrapTarget(desired);
  return [builder.add({ kind: "bootstrap-etcd", machine: target }, [`apply-config/${target}`])];
}

/**
 * Why etcd must not be started now. Starting a second one would split the cluster for good, so every control plane,
 * wished or leaving, has to be seen without etcd data; not being able to look is a no. And a worker that has become a
 * ready node tells of an etcd that was there: a new one would forget everything.
 */
export function bootstrapObstacle(
  desired: Pick<DesiredCluster, "machines" | "leaving">,
  observed: ObservedCluster,
): string | undefined {
  for (const { name, role } of [...desired.machines, ...desired.leaving]) {
    const machine = observed.machines.get(name);
    const state = machine?.state;
    if (role === "worker") {
      if (state?.kind === "configured" && state.ready) return `${name} is a node of a cluster that had an etcd`;
      continue;
    }
    if (state === undefined || state.kind === "unreachable" || state.kind === "foreign") {
      return `${name} cannot be asked whether it has etcd data: ${state?.reason ?? "not observed"}`;
    }
    const etcd = configured(machine)?.etcd;
    if (etcd !== undefined && etcd.state !== "waiting") return `${name} already has etcd data`;
    if (state.kind === "configured" && ["rebooting", "resetting", "upgrading", "shutting down"].includes(state.stage)) {
      return `${name} is ${state.stage}`;
    }
  }
  return undefined;
}

/** META of machines where it differs. A machine takes none before it has its config, and loses it with a reset. */
export function planMeta(builder: PlanBuilder, desired: DesiredCluster, observed: ObservedCluster): void {
  for (const machine of desired.machines) {
    const state = observed.machines.get(machine.name)?.state;
    if (state?.kind !== "maintenance" && state?.kind !== "configured") continue;
    const keys = metaWork(machine, state.kind === "configured" ? state : { meta: {} });
    if (keys.length === 0) continue;
    builder.add({ kind: "write-meta", machine: machine.name, keys }, [`apply-config/${machine.name}`]);
  }
}

/** The keys whose value is not the wished one. An empty text wishes for no value; absent and empty are the same. */
export function metaWork(
  { meta = {} }: Pick<DesiredMachine, "meta">,
  { meta: found }: Pick<ConfiguredMachine, "meta">,
): readonly number[] {
  // What the machine does not tell cannot be compared.
  if (found === undefined) return [];
  return Object.entries(meta)
    .filter(([key, value]) => (found[key] ?? "") !== value)
    .map(([key]) => Number(key))
    .sort((a, b) => a - b);
}
