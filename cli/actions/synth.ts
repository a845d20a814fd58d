// SPDX-License-Identifier: Apache-2.0
import { readdir, readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { encryptionFile, type JsonObject, printStack, writtenByTalosmith } from "../../constructs/index.ts";
import { describeFirstContact, type Environment, listEnvironments, loadEnvironment } from "../../model/index.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { openEnvironment, projectRoot } from "../../workspace/project.ts";
import { prepareStack } from "../../workspace/terraform/prepare-stack.ts";
import type { CommandContext } from "../context.ts";
import { reportError } from "../output/report-error.ts";
import { jsonLine } from "../output/table.ts";

interface SynthFlags {
  /** @default false */
  readonly json?: boolean;
  readonly hcl: boolean;
  /** Of HCL: write nothing; fail when what is there is not what would be written. */
  readonly check: boolean;
}

export async function synth(name: string | undefined, flags: SynthFlags, context: CommandContext): Promise<void> {
  if (flags.hcl) return synthHcl(name, flags, context);
  const root = projectRoot(context.cwd, context.env);
  const known = listEnvironments(root);
  for (const environment of name === undefined ? known : [name]) {
    try {
      // A project's own app may have stacks without a file; what is unwise in a file is told, as by `plan`.
      if (known.includes(environment)) tellFirstContact(openEnvironment(environment, context).environment, context);
      const directory = await prepareStack(root, environment, context);
      writePlace(environment, directory, flags, context);
    } catch (error) {
      // One environment's fault is no reason to leave the others unwritten.
      reportError(error, context);
    }
  }
}

/** Writes the HCL of an environment, or of all, to terraform/<environment>, or checks that it is as it would be written. */
export async function synthHcl(
  name: string | undefined,
  options: Pick<SynthFlags, "check" | "json">,
  context: CommandContext,
): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const stale: string[] = [];
  for (const environment of name === undefined ? listEnvironments(root) : [name]) {
    // Warnings about the file are printed where something is written, not by each check in CI.
    if (!options.check) tellFirstContact(openEnvironment(environment, context).environment, context);
    const folder = join(root, "terraform", environment);
    const wanted = await render(root, environment, context);
    const differing = await differences(folder, wanted);
    if (options.check) stale.push(...differing.map((file) => relative(root, join(folder, file))));
    else await update(folder, wanted, differing);
    if (!options.check) writePlace(environment, folder, options, context);
  }
  if (stale.length > 0)
    throw new TalosError("failed-precondition", `not as they would be written: ${stale.join(", ")}`, {
      hint: "Run talosmith synth --hcl and commit what it writes.",
    });
}

function writePlace(
  environment: string,
  folder: string,
  { json = false }: Pick<SynthFlags, "json">,
  context: CommandContext,
): void {
  const directory = relative(context.cwd, folder);
  context.stdout.write(json ? jsonLine({ v: 1, environment, directory }) : `${directory}\n`);
}

async function render(
  root: string,
  environment: string,
  context: CommandContext,
): Promise<ReadonlyMap<string, string>> {
  const { file, backend } = loadEnvironment(root, environment);
  const json = await readFile(join(await prepareStack(root, environment, context), "cdk.tf.json"), "utf8");
  return printStack(JSON.parse(json) as JsonObject, {
    environment,
    source: file,
    encryption: encryptionFile(backend),
  });
}

/** Names of files that are missing, have other content, or are left over from an earlier writing. */
async function differences(folder: string, wanted: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const present = await readAll(folder);
  const changed = [...wanted].filter(([file, text]) => present.get(file) !== text).map(([file]) => file);
  const left = [...present]
    .filter(([file, text]) => !wanted.has(file) && writtenByTalosmith(text))
    .map(([file]) => file);
  return [...changed, ...left];
}

async function update(
  folder: string,
  wanted: ReadonlyMap<string, string>,
  differing: readonly string[],
): Promise<void> {
  for (const file of differing) {
    const text = wanted.get(file);
    if (text === undefined) await rm(join(folder, file));
    else await writeFileAtomically(join(folder, file), text, { mode: 0o644 });
  }
}

async function readAll(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const texts = files
    .filter((file) => /\.(tf|tofu)$/.test(file))
    .map(async (file) => [file, await readFile(join(folder, file), "utf8")] as const);
  return new Map(await Promise.all(texts));
}

/** Says how machines get their initial config, wherever a person reads what a deploy would do. */
export function tellFirstContact(environment: Environment, { stderr }: Pick<CommandContext, "stderr">): void {
  const sentence = describeFirstContact(environment);
  if (sentence !== undefined) stderr.write(`${environment.name}: ${sentence}\n`);
}
