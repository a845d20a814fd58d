// SPDX-License-Identifier: Apache-2.0

import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import { MachineConfig, machineRules, type ValidationResult, validateConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { unifiedDiff } from "../../talos/unified-diff.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { ensureCluster } from "../controllers/membership.ts";
import { takeConfig } from "../controllers/power.ts";
import { CallError } from "../machine/call-error.ts";
import { emitAll } from "../machine/events.ts";
import { faultOf, hasFault } from "../machine/fault.ts";
import { isUp } from "../machine/life.ts";
import { isPartial, readNodeConfig } from "../machine/node-config.ts";
import { minorOf } from "../machine/release.ts";
import type { Moment } from "../machine/timings.ts";
import { isTree, type Machine, type Tree, tree, type World, withMachine, without } from "../machine/world.ts";
import { startSequence } from "./sequences.ts";

export type ApplyMode = "REBOOT" | "AUTO" | "NO_REBOOT" | "STAGED" | "TRY";

export interface ApplyInput {
  readonly text: string;
  readonly mode: ApplyMode;
  readonly dryRun: boolean;
  /** Milliseconds until a config in try mode is taken back. */
  readonly tryTimeout: number;
}

export interface Applied {
  readonly world: World;
  readonly mode: ApplyMode;
  readonly details: string;
  readonly warnings: readonly string[];
}

/** Takes a config as the machine's API does: checks it, decides how it can be applied, and applies it. */
export function applyConfig(world: World, machine: Machine, input: ApplyInput, moment: Moment): Applied {
  const fault = faultOf(machine.faults, "reject-config", moment.now);
  if (fault !== undefined) throw new CallError("InvalidArgument", fault.message);
  if (hasFault(machine, "disk-full", moment.now) && !input.dryRun) {
    throw new CallError("Unknown", "write /system/state/config.yaml.tmp: no space left on device");
  }
  if (machine.life.stage === "stopping" || machine.life.stage === "installing") {
    throw new CallError(
      "FailedPrecondition",
      "configuration was already applied and node is rebooting, cannot apply more configuration changes until next reboot",
    );
  }
  if (machine.life.stage === "maintenance" && minorOf(machine.talosVersion) >= 1_013 && isPartial(input.text)) {
    return partialConfig(world, machine, input);
  }
  const warnings = check(input.text, machine);
  return machine.life.stage === "maintenance"
    ? firstConfig(world, machine, input, warnings, moment)
    : nextConfig(world, machine, input, warnings, moment);
}

/** Documents beside the main one are taken while a machine waits for that: it keeps waiting, with what they say. */
function partialConfig(world: World, machine: Machine, input: ApplyInput): Applied {
  const warnings = checkPartial(input.text, machine);
  const taken = { mode: "NO_REBOOT", warnings } as const;
  if (input.dryRun) return { world, details: dryRun(atOnce, "", input.text), ...taken };
  return { world: withMachine(world, { ...machine, partialConfig: input.text }), details: atOnce, ...taken };
}

function checkPartial(text: string, machine: Machine): readonly string[] {
  const { warnings, error } = judge(text, machine, { installed: false });
  if (error !== undefined) throw new CallError("InvalidArgument", error);
  return warnings;
}

function check(text: string, machine: Machine): readonly string[] {
  try {
    const warnings = checkConfig(text, machine);
    readNodeConfig(text);
    return warnings;
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    const old = machine.life.stage === "maintenance" && minorOf(machine.talosVersion) < 1_013;
    const prefix = old ? "configuration validation failed: " : "";
    throw new CallError("InvalidArgument", prefix + error.message, { cause: error });
  }
}

function firstConfig(
  world: World,
  machine: Machine,
  input: ApplyInput,
  warnings: readonly string[],
  moment: Moment,
): Applied {
  const old = minorOf(machine.talosVersion) < 1_013;
  if (old && (input.mode === "NO_REBOOT" || input.mode === "STAGED")) {
    const mode = input.mode === "STAGED" ? "staged" : "no_reboot";
    throw new CallError("Unimplemented", `apply configuration --mode='${mode}' is not supported in maintenance mode`);
  }
  if (input.dryRun) {
    const details = old
      ? "Dry run summary:\nNode is running in maintenance mode and does not have a config yet."
      : dryRun(atOnce, "", input.text);
    return { world, mode: input.mode, details, warnings };
  }
  const stopped = { kind: "task", task: "runningMaintenance", action: "STOP" } as const;
  const left = emitAll(without(machine, "partialConfig"), moment.now, [stopped]);
  const next = takeConfig(left, input.text, moment);
  const mode = input.mode === "AUTO" || input.mode === "REBOOT" ? "NO_REBOOT" : input.mode;
  const withMember = ensureCluster(withMachine(world, next), input.text);
  return { world: withMember, mode, details: atOnce, warnings };
}

function nextConfig(
  world: World,
  machine: Machine,
  input: ApplyInput,
  warnings: readonly string[],
  moment: Moment,
): Applied {
  const active = machine.activeConfig ?? "";
  // Since 1.14 every field takes effect at once.
  const cold = minorOf(machine.talosVersion) < 1_014 && needsReboot(active, input.text);
  const reason = () =>
    `this config change can't be applied in immediate mode\ndiff: ${unifiedDiff(active, input.text)}`;
  if (cold && (input.mode === "NO_REBOOT" || input.mode === "TRY")) throw new CallError("InvalidArgument", reason());
  if (input.mode === "REBOOT" && minorOf(machine.talosVersion) >= 1_014) {
    const message = "the REBOOT mode is not supported, please use AUTO or NO_REBOOT modes instead";
    throw new CallError("Unimplemented", message);
  }
  const mode: ApplyMode = input.mode === "AUTO" ? (cold ? "REBOOT" : "NO_REBOOT") : input.mode;
  const details = describe(mode, input.tryTimeout) + (input.mode === "AUTO" && cold ? `: ${reason()}` : "");
  if (input.dryRun) return { world, mode, details: dryRun(details, active, input.text), warnings };
  return { world: ensureCluster(change(world, machine, mode, input, moment), input.text), mode, details, warnings };
}

function change(world: World, machine: Machine, mode: ApplyMode, input: ApplyInput, moment: Moment): World {
  const saved: Machine = { ...machine, disk: { ...machine.disk, config: input.text } };
  switch (mode) {
    case "STAGED":
      return withMachine(world, saved);
    case "TRY":
      return withMachine(world, { ...machine, activeConfig: input.text, tryUntil: moment.now + input.tryTimeout });
    case "REBOOT":
      return startSequence(withMachine(world, saved), saved, { sequence: "reboot", next: "boot" }, moment).world;
    default:
      if (!isUp(machine.life)) return withMachine(world, saved);
      return withMachine(world, { ...without(saved, "tryUntil"), activeConfig: input.text });
  }
}

const atOnce = "Applied configuration without a reboot";

function describe(mode: ApplyMode, tryTimeout: number): string {
  if (mode === "REBOOT") return "Applied configuration with a reboot";
  if (mode === "STAGED") return "Staged configuration to be applied after the next reboot";
  if (mode !== "TRY") return atOnce;
  return `${atOnce}\nThe config is applied in 'try' mode and will be automatically reverted back in ${goDuration(tryTimeout)}`;
}

function dryRun(details: string, before: string, after: string): string {
  return `Dry run summary:\n${details} (skipped in dry-run).\nConfig diff:\n\n${unifiedDiff(before, after) || "No changes."}`;
}

/** 60000 is `1m0s`, as Go prints durations. */
function goDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  return h > 0 ? `${h}h${m}m${s}s` : m > 0 ? `${m}m${s}s` : `${s}s`;
}

/** Refuses what a real machine refuses (throws `invalid-input` with its words); returns warnings. */
function checkConfig(text: string, machine: Machine): readonly string[] {
  const installed = machine.disk.installed !== undefined;
  const { warnings, error } = judge(text, machine, { installed });
  if (error !== undefined) throw new TalosError("invalid-input", error);
  return warnings;
}

/** By the rules of the release that the machine runs. */
function judge(text: string, machine: Machine, options: { readonly installed: boolean }): ValidationResult {
  const talos = TalosVersion.parse(machine.talosVersion);
  const config = new MachineConfig(text, "config", machineRules(talos));
  return validateConfig(config, { mode: "metal", talos, ...options });
}

/** Fields of `machine` that take effect at once; a change of any other needs a reboot. */
const hotMachine: ReadonlySet<string> = new Set([
  "ca",
  "acceptedCAs",
  "time",
  "certSANs",
  "install",
  "network",
  "sysfs",
  "sysctls",
  "logging",
  "controlPlane",
  "kubelet",
  "kernel",
  "registries",
  "pods",
  "seccompProfiles",
  "nodeAnnotations",
  "nodeLabels",
  "nodeTaints",
]);

const hotFeatures: ReadonlySet<string> = new Set([
  "kubernetesTalosAPIAccess",
  "kubePrism",
  "hostDNS",
  "imageCache",
  "nodeAddressSortAlgorithm",
]);

/** True when the way from one config to the other leads through a reboot. Documents beside v1alpha1 never need one. */
function needsReboot(before: string, after: string): boolean {
  return !isDeepStrictEqual(coldPart(before), coldPart(after));
}

function coldPart(text: string): unknown {
  const root = parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .find((value): value is Tree => isTree(value) && (value.machine !== undefined || value.cluster !== undefined));
  if (root === undefined) return undefined;
  const { features, ...machine } = tree(root.machine);
  return {
    persist: root.persist,
    machine: keep(machine, (key) => !hotMachine.has(key)),
    features: isTree(features) ? keep(features, (key) => !hotFeatures.has(key)) : {},
  };
}

function keep(tree: Tree, wanted: (key: string) => boolean): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => wanted(key)));
}
