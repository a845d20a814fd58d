// SPDX-License-Identifier: Apache-2.0
import { type ConfigFinding, patchSetting, validateConfig } from "../../talos/config/index.ts";
import { contractOfKind, writtenAs } from "../../talos/config/migrate/index.ts";
import { isGiven } from "../../talos/given.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { Finding } from "../events.ts";
import type { ObservedCluster } from "../observed.ts";
import { configured } from "./quorum.ts";

/** In every sentence of these findings: by it they are known where only their words come through. */
export const refusesConfig = "would refuse the config";

/**
 * What machines would refuse of the configs that an apply sends them, by the rules of the Talos that will run them then.
 * A config that a machine runs already, with that Talos, was accepted.
 */
export function configFindings(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  const refused = new Map<string, { readonly found: ConfigFinding; readonly machines: DesiredMachine[] }>();
  for (const machine of desired.machines) {
    const state = configured(observed.machines.get(machine.name));
    const isRunning = state?.config?.text === machine.config.text;
    if (machine.config.text === "" || (isRunning && state?.talosVersion === desired.talosVersion.toString())) continue;
    // Whether there is something to install, and where, is asked of the machine itself.
    const options = { mode: "cloud", talos: desired.talosVersion, installed: true } as const;
    for (const found of causes(validateConfig(machine.config, options).findings)) {
      const key = [found.document, found.path, found.message].join("\n");
      const known = refused.get(key) ?? { found, machines: [] };
      refused.set(key, { ...known, machines: [...known.machines, machine] });
    }
  }
  return [...refused.values()].map(({ found, machines }) => findingOf(desired, found, machines));
}

/** The errors. What else is wrong with a document that should not be there is no help: a patch made it, and not whole. */
function causes(findings: readonly ConfigFinding[]): readonly ConfigFinding[] {
  const errors = findings.filter(({ severity }) => severity === "error");
  const conflicting = new Set(errors.map(({ conflictsWith }) => conflictsWith?.document));
  return errors.filter(({ document, conflictsWith }) => conflictsWith !== undefined || !conflicting.has(document));
}

function findingOf(desired: DesiredCluster, found: ConfigFinding, machines: readonly DesiredMachine[]): Finding {
  const { conflictsWith } = found;
  const places = [found, conflictsWith].filter(isGiven);
  const patches = machines[0]?.patches ?? [];
  const set = places.map(({ document, path }) => {
    const place = patchSetting(patches, document, path);
    const origin = place && desired.placeOf?.(place);
    return [document, path, origin && `(${origin})`].filter(Boolean).join(" ");
  });
  const names = machines.map(({ name }) => name).join(", ");
  const where = set.filter((text) => text !== "").join(" and ");
  return {
    severity: "error",
    message: `${names}: Talos ${desired.talosVersion} ${refusesConfig}: ${where}: ${reasonOf(desired, found, patches)}`,
    hint:
      conflictsWith === undefined
        ? "Correct the patch or setting that it comes from."
        : wayOut(desired, found, machines),
  };
}

/** Where the contract has the setting of a conflict, and the command that moves settings. */
function wayOut(
  { contract, placeOf }: DesiredCluster,
  found: ConfigFinding,
  [machine]: readonly DesiredMachine[],
): string {
  const other = found.conflictsWith?.document ?? "";
  const home = contractOfKind(other.split("/")[0] ?? "");
  const migrate = `talosmith config migrate <environment> --to ${home}`;
  if (home === undefined || machine === undefined) return "Remove it from one of the two places.";
  if (contract.compare(home) < 0)
    return `Contract ${contract} has the setting in v1alpha1. Write it there, or move to the contract that has ${other}: ${migrate}`;
  const { patches = [], config, role } = machine;
  const { written } = byOrigin(patches, placeOf);
  const places = writtenAs(written, found.path, config, { role, contract });
  if (places.length === 0) return "Remove it from one of the two places.";
  return `${places.join(" ")} To have all patches rewritten: ${migrate}, while configContract is still the older one.`;
}

/** In the words of Talos, which may repeat a value; not where the value may come from a file with secret patches. */
function reasonOf({ placeOf }: DesiredCluster, found: ConfigFinding, patches: readonly string[]): string {
  const { document, path, conflictsWith } = found;
  const { written, hidden } = byOrigin(patches, placeOf);
  const sets = (some: readonly string[]) => patchSetting(some, document, path) !== undefined;
  const isShown = hidden.length === 0 || conflictsWith !== undefined || (sets(written) && !sets(hidden));
  if (!isShown) return "what is set there is not shown, because it may come from a patch file, which is secret";
  const message = found.message.trim().replace(/\.$/, "");
  return message.startsWith(`${document}: `) ? message.slice(document.length + 2) : message;
}

/** Patches that a file of the project shows, and those that come from files with secrets. Where nothing is known of that, all are shown. */
function byOrigin(patches: readonly string[], placeOf: DesiredCluster["placeOf"]) {
  const isWritten = (patch: string) => placeOf === undefined || placeOf({ patch, document: 0, keys: [] }) !== undefined;
  return { written: patches.filter(isWritten), hidden: patches.filter((patch) => !isWritten(patch)) };
}
