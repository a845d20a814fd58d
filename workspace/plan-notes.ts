// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, ObservedCluster } from "../engine/index.ts";
import { changesByEffect, releaseChanges, releaseChangesTitle } from "../talos/config/migrate/index.ts";
import { TalosVersion } from "../talos/version/index.ts";

/** What a person should know of a plan that its steps do not say: warnings, as Terraform has them. */
export function planNotes(desired: DesiredCluster, observed: ObservedCluster): readonly string[] {
  return [...releaseNotes(desired, observed), ...migrationNotes(desired, observed)];
}

/** What an upgrade of Talos changes although the config stays. */
function releaseNotes({ machines, talosVersion }: DesiredCluster, observed: ObservedCluster): readonly string[] {
  const upgraded = machines.flatMap(({ name, config: after }) => {
    const state = observed.machines.get(name)?.state;
    const before = state?.kind === "configured" ? state.config : undefined;
    if (state?.kind !== "configured" || before === undefined || before.problem !== undefined) return [];
    const from = TalosVersion.parse(state.talosVersion);
    return from.contract.equals(talosVersion.contract) ? [] : [{ name, from, before, after }];
  });
  return releaseChanges(upgraded, talosVersion).map((sentence) => `${releaseChangesTitle}\n\n${sentence}`);
}

/** After a migration every machine gets its config again, and most often it means what it did. */
function migrationNotes(desired: DesiredCluster, observed: ObservedCluster): readonly string[] {
  if (desired.previousContract === undefined) return [];
  const same = desired.machines.flatMap(({ name, config }) => {
    const state = observed.machines.get(name)?.state;
    const running = state?.kind === "configured" ? state.config : undefined;
    if (running === undefined || running.problem !== undefined || running.text === config.text) return [];
    const { effective } = changesByEffect(running, config, desired.talosVersion.contract);
    return effective.every(({ kind }) => kind === "moved") ? [name] : [];
  });
  if (same.length === 0) return [];
  return [`${same.join(", ")}: the new config is written for contract ${desired.contract} and means the same.`];
}
