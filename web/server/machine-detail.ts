// SPDX-License-Identifier: Apache-2.0
import {
  type DesiredCluster,
  type DesiredMachine,
  type MachineState,
  type ObservedCluster,
  readerOf,
  type Step,
  stateOf,
  talosMachines,
} from "../../engine/index.ts";
import { diffConfigs, type MachineConfig, movesInWords, redactConfig } from "../../talos/config/index.ts";
import { changesByEffect, withoutEffectInWords } from "../../talos/config/migrate/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { isGiven } from "../../talos/given.ts";
import { oneLine, plainText } from "../../talos/plain-text.ts";
import { hideSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import type { DeployedCluster } from "../../workspace/workspace.ts";
import type { ConfigDifferences, MachineDetail, MachineDifferences } from "../shared/wire.ts";

/** Throws when the cluster has no such machine. */
export function findMachine({ desired }: Pick<DeployedCluster, "desired">, name: string): DesiredMachine {
  const found = desired.machines.find((machine) => machine.name === name);
  if (found === undefined) throw new TalosError("not-found", `${desired.name} has no machine ${name}`);
  return found;
}

/** A machine of which nothing is known but why. */
export function unknownMachine(name: string, problem: string): MachineDetail {
  return {
    name,
    problem,
    schematic: null,
    services: [],
    addresses: [],
    disks: [],
    config: null,
    changes: [],
    moved: null,
  };
}

/** Everything about one machine, as it says now. Not reaching it is a state. */
export async function machineDetail(
  opened: Pick<DeployedCluster, "desired" | "secrets">,
  machine: DesiredMachine,
  signal: AbortSignal,
): Promise<MachineDetail> {
  const machines = talosMachines(opened);
  const reader = readerOf(opened, machine);
  try {
    const state = await machines.inspect(machine, signal);
    if (state.kind !== "configured") return unknownMachine(machine.name, problemOf(state));
    const [services, addresses, disks, schematic] = await Promise.all([
      reader.serviceList({ signal }),
      reader.addresses({ signal }),
      reader.disks({ signal }),
      reader.schematic({ signal }),
    ]);
    const hidden = hideSecrets(opened.secrets);
    const hide = (text: string) => plainText(hidden(text));
    return {
      name: machine.name,
      problem: null,
      schematic: schematic ?? null,
      services: services.map(({ id, state: word, healthy, healthUnknown }) => ({
        name: id,
        state: word,
        healthy: healthUnknown ? null : healthy,
      })),
      addresses,
      disks,
      config: state.config === undefined ? null : hide(redactConfig(state.config)),
      ...(state.config === undefined
        ? { changes: [], moved: null }
        : configDifferences(opened.desired, machine, state.config, hide)),
    };
  } catch (error) {
    const { code, message } = TalosError.from(error);
    if (code === "internal") throw error;
    return unknownMachine(machine.name, message);
  } finally {
    reader.close();
    machines.close();
  }
}

function problemOf(state: Exclude<MachineState, { kind: "configured" }>): string {
  return state.kind === "maintenance" ? "It is in maintenance mode and has no config yet." : state.reason;
}

/** From the active config of a machine to the desired one, secrets replaced. */
export function configDifferences(
  desired: Pick<DesiredCluster, "talosVersion" | "contract" | "previousContract">,
  machine: DesiredMachine,
  active: MachineConfig,
  hide: (text: string) => string,
): ConfigDifferences {
  const shown = (text: string | undefined) => (text === undefined ? null : plainText(hide(text)));
  // What came or went as a whole has no value of its own to show.
  const whole = "the whole document";
  const { effective: found, withoutEffect } =
    desired.previousContract === undefined
      ? { effective: diffConfigs(active, machine.config), withoutEffect: [] }
      : changesByEffect(active, machine.config, desired.talosVersion.contract);
  const same = [movesInWords(found), withoutEffectInWords(withoutEffect, desired.contract)].filter(isGiven);
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
    moved: same.length === 0 ? null : same.join(". "),
  };
}

/** What these steps change in configs. Comparing takes time: only machines that a step sends a config to. */
export function differencesOf(
  desired: DesiredCluster,
  observed: ObservedCluster,
  steps: readonly Step[],
  secrets: SecretsBundle,
): readonly MachineDifferences[] {
  const changing = new Set(steps.filter(({ kind }) => kind === "apply-config").map(({ machine }) => machine));
  const hide = hideSecrets(secrets);
  const groups = new Map<string, ConfigDifferences & { machines: string[] }>();
  for (const machine of desired.machines.filter(({ name }) => changing.has(name))) {
    const state = stateOf(machine.name, observed);
    if (state.kind !== "configured" || state.config === undefined) continue;
    const found = configDifferences(desired, machine, state.config, hide);
    const key = JSON.stringify(found);
    const group = groups.get(key) ?? { machines: [], ...found };
    group.machines.push(machine.name);
    groups.set(key, group);
  }
  return [...groups.values()];
}
