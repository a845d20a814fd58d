// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import {
  applyPatches,
  type Change,
  diffConfigs,
  MachineConfig,
  type Mode,
  machineRules,
  parsePatch,
  redactConfig,
  validateConfig,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { counted } from "../../workspace/amounts.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { readPatches, readText } from "./user-files.ts";

interface ConfigPatchOptions {
  readonly patch: readonly string[];
  readonly output?: string;
  readonly json: boolean;
}

export async function configPatch(file: string, options: ConfigPatchOptions, context: CommandContext): Promise<void> {
  const config = await readText(file, context.cwd);
  const patches = await readPatches(options.patch, context.cwd);
  const parsed = patches.map(({ name, text }) => parsePatch(text, name));
  const patched = applyPatches(config, parsed, file);
  if (options.output !== undefined && options.output !== "-") {
    await writeFileAtomically(resolve(context.cwd, options.output), patched);
    if (options.json) context.stdout.write(jsonLine({ file: options.output }));
    return;
  }
  // The empty line at the end is talosctl's.
  context.stdout.write(options.json ? jsonLine({ config: patched }) : `${patched}\n`);
}

export async function configRedact(
  file: string,
  options: { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const config = redactConfig(new MachineConfig(await readText(file, context.cwd), file));
  context.stdout.write(options.json ? jsonLine({ config }) : config);
}

interface ConfigDiffOptions {
  readonly detailedExitcode: boolean;
  readonly json: boolean;
}

export async function configDiff(
  before: string,
  after: string,
  options: ConfigDiffOptions,
  context: CommandContext,
): Promise<void> {
  const [left, right] = await Promise.all([readText(before, context.cwd), readText(after, context.cwd)]);
  const configs = [new MachineConfig(left, before), new MachineConfig(right, after)] as const;
  // In files of the user, what the schema does not know is a mistake.
  for (const config of configs) config.decode();
  const changes = diffConfigs(...configs);
  const reboot = changes.some((change) => change.reboot);
  if (options.json) context.stdout.write(jsonLine({ changes, reboot }));
  else {
    context.stdout.write(changes.map(describe).join(""));
    context.stderr.write(summary(changes, reboot));
  }
  if (changes.length > 0 && options.detailedExitcode) context.exit(2);
}

const signs = { added: "+", removed: "-", changed: "~", moved: ">" } as const;

function describe(change: Change): string {
  const goal = change.to === undefined ? "" : ` → ${change.to}`;
  const where = change.path === "" ? change.document : `${change.document}: ${change.path}${goal}`;
  const mark = change.reboot ? " (reboot)" : "";
  const marked = (text: string | undefined, sign: string) =>
    text?.split("\n").map((line) => `    ${sign} ${line}`) ?? [];
  const lines = [...marked(change.before, "-"), ...marked(change.after, "+")];
  return `${[`${signs[change.kind]} ${where}${mark}`, ...lines].join("\n")}\n`;
}

function summary(changes: readonly Change[], reboot: boolean): string {
  if (changes.length === 0) return "The two configs say the same.\n";
  const moved = changes.filter(({ kind }) => kind === "moved").length;
  const counts = [
    moved < changes.length && counted(changes.length - moved, "change"),
    moved > 0 && `${counted(moved, "setting")} that only moved into documents of their own (>)`,
  ];
  return `${counts.filter(Boolean).join(", ")}; ${reboot ? "a running machine has to reboot for it" : "no reboot needed"}.\n`;
}

interface ConfigValidateOptions {
  readonly config: string;
  readonly mode: string;
  readonly talosVersion?: string;
  readonly strict: boolean;
  readonly json: boolean;
}

const modes: readonly Mode[] = ["metal", "cloud", "container"];

export async function configValidate(options: ConfigValidateOptions, context: CommandContext): Promise<void> {
  const { config: file, strict } = options;
  const mode = modes.find((known) => known === options.mode);
  if (mode === undefined) {
    throw new TalosError("invalid-input", `unknown runtime mode: ${JSON.stringify(options.mode)}`, {
      hint: `Choose from: ${modes.join(", ")}.`,
    });
  }
  const text = await readText(file, context.cwd);
  const talos =
    options.talosVersion === undefined ? undefined : TalosVersion.newestOf(Contract.parse(options.talosVersion));
  const config = new MachineConfig(text, file, talos && machineRules(talos));
  const { warnings, error } = validateConfig(config, { mode, strict, local: true, ...given({ talos }) });
  if (options.json) {
    const result = { file, mode, valid: error === undefined, warnings, error: error ?? null };
    context.stdout.write(jsonLine(result));
    if (error !== undefined) context.exit(1);
    return;
  }
  for (const warning of warnings) context.stderr.write(`WARNING: ${warning}\n`);
  if (error !== undefined) throw new TalosError("invalid-input", error);
  context.stdout.write(`${file} is valid for ${mode} mode\n`);
}
