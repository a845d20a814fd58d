// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type App, TerraformStack } from "cdktn";
import * as z from "zod";
import {
  type EnvironmentStack,
  encryptionFile,
  type SynthResult,
  synthesize,
  writeWhole,
} from "../../constructs/index.ts";
import { formatFault } from "../../model/index.ts";
import { packageProvider } from "../../provider/package.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { appFailure } from "./app-failure.ts";
import { completeStack, protectStates } from "./complete-stack.ts";

/** What a project's main.ts may add. */
export interface ProjectOptions {
  /** Adds to an environment's stack what its file can't say. @default - nothing */
  readonly extend?: (stack: EnvironmentStack) => void;
}

/**
 * What a project's main.ts is for: `cdktf synth`, `cdktn deploy` and their like run it. Writes one stack for each file in
 * environments/, or for the one that TALOSMITH_ENVIRONMENT names, and says on stderr what is wrong with the others.
 */
export async function synthesizeProject(root: string, options: ProjectOptions = {}): Promise<void> {
  const { CDKTF_OUTDIR: outdir, TALOSMITH_ENVIRONMENT: only, [unsavedFilesVariable]: texts } = process.env;
  const environments = only === undefined ? undefined : [only];
  const settings = given({ outdir, environments, unsaved: texts === undefined ? undefined : await readUnsaved(texts) });
  const { stacks, failures } = await synthesizeEnvironments({ root, ...options, ...settings });
  for (const warning of stacks.flatMap((stack) => stack.warnings)) console.error(`warning: ${formatFault(warning)}\n`);
  for (const { error } of failures) console.error(`${failureOf(error, root)}\n`);
  // The stock commands take a failure for that of every stack, so one broken environment must not be one.
  if (stacks.length === 0 && failures.length > 0) process.exitCode = 1;
}

/**
 * Names a JSON file of texts by path from the root: an app that is run with it makes the stacks that these texts give,
 * while the project's files stay as they are.
 */
export const unsavedFilesVariable = "TALOSMITH_UNSAVED_FILES";
const unsavedFiles = z.record(z.string(), z.string());

/** An app that makes its stacks in another way does not write this file, and has made them of the files on disk. */
export const readMark = (unsaved: string) => `${unsaved}.read`;

async function readUnsaved(file: string): Promise<ReadonlyMap<string, string>> {
  const texts = unsavedFiles.parse(JSON.parse(readFileSync(file, "utf8")));
  await writeFileAtomically(readMark(file), "");
  return new Map(Object.entries(texts));
}

/** An error of an environment's file names its place; one of the code in main.ts gets it from its stack. */
function failureOf(error: Error, root: string): string {
  return error instanceof TalosError ? error.message : appFailure(error.stack ?? error.message, root);
}

/** In place of `app.synth()` in an app of one's own: also lays our provider beside each stack, ready for `init`. */
export async function synthesizeApp(app: App, root: string = process.cwd()): Promise<void> {
  writeWhole(app);
  const provider = await packageProvider();
  for (const stack of app.node.findAll().filter(TerraformStack.isStack)) {
    const { name, workingDirectory } = app.manifest.forStack(stack);
    await completeStack(root, { name, directory: join(app.outdir, workingDirectory), provider });
  }
}

export interface SynthesizeOptions extends ProjectOptions {
  /** The project: the folder of cdktf.json and environments/. */
  readonly root: string;
  /** @default cdktf.out in the project */
  readonly outdir?: string;
  /** @default - all environments of the project */
  readonly environments?: readonly string[];
  /** Texts, by path from the root, that count instead of what the files have. @default - none */
  readonly unsaved?: ReadonlyMap<string, string>;
}

/** Writes the stacks of environment files, ready for `init`: with the provider, its lock entry and the committed locks. */
export async function synthesizeEnvironments(options: SynthesizeOptions): Promise<SynthResult> {
  const { root, outdir = join(root, "cdktf.out"), environments, extend, unsaved } = options;
  const result = synthesize({ projectRoot: root, outdir, ...given({ environments, extend, unsaved }) });
  const provider = await packageProvider();
  for (const { environment, directory } of result.stacks) {
    const encryption = encryptionFile(environment.backend);
    await completeStack(root, { name: environment.name, directory: join(outdir, directory), provider, encryption });
  }
  if (result.stacks.some(({ environment }) => environment.backend.kind === "local")) await protectStates(root);
  return result;
}
