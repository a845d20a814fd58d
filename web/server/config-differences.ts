// SPDX-License-Identifier: Apache-2.0
import {
  type DesiredCluster,
  type DesiredMachine,
  type ObservedCluster,
  type Step,
  stateOf,
} from "../../engine/index.ts";
import { diffConfigs, type MachineConfig, movesInWords } from "../../talos/config/index.ts";
import { oneLine, plainText } from "../../talos/plain-text.ts";
import { hideSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import type { ConfigDifferences, MachineDifferences } from "../shared/wire.ts";

/** From the active config of a machine to the desired one, secrets replaced. */
export function configDifferences(
  machine: DesiredMachine,
  active: MachineConfig,
  hide: (text: string) => string,
): ConfigDifferences {
  const shown = (text: string | undefined) => (text === undefined ? null : plainText(hide(text)));
  // What came or went as a whole has no value of its own to show.
  const whole = "the whole document";
  const found = diffConfigs(active, machine.config);
  return {
    changes: found
      .filter(({ kind }) => kind !== "moved")
      .map(({ document, path, kind, before, after, reboot }) => ({
        document: oneLine(document),
        path: oneLine(path),
        before: path === "" && kind === "removed" ? whole : shown(before),
        after: path === "" && kind === "added" ? whole : shown(after),
        reboot,
      })),
    moved: movesInWords(found) ?? null,
  };
}

/** What these steps change in configs. Comparing takes time: only machines that a step sends a config to. */
export function differencesOf(
  { machines }: DesiredCluster,
  observed: ObservedCluster,
  steps: readonly Step[],
  secrets: SecretsBundle,
): readonly MachineDifferences[] {
  const changing = new Set(steps.filter(({ kind }) => kind === "apply-config").map(({ machine }) => machine));
  const hide = hideSecrets(secrets);
  const groups = new Map<string, ConfigDifferences & { machines: string[] }>();
  for (const machine of machines.filter(({ name }) => changing.has(name))) {
    const state = stateOf(machine.name, observed);
    if (state.kind !== "configured" || state.config === undefined) continue;
    const found = configDifferences(machine, state.config, hide);
    const key = JSON.stringify(found);
    const group = groups.get(key) ?? { machines: [], ...found };
    group.machines.push(machine.name);
    groups.set(key, group);
  }
  return [...groups.values()];
}
