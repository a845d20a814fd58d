// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  changeVersion,
  contractToWrite,
  type Environment,
  type Fault,
  type FirstEnvironment,
  fileReader,
  firstEnvironment,
  loadEnvironment,
  migratedContract,
  parseEnvironment,
  type ReadFile,
  type VersionField,
  withCount,
  withTexts,
} from "../model/index.ts";
import { writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";

/** Before questions are asked whose answers could not be kept. */
export function refuseExisting(root: string, name: string): void {
  const file = `environments/${name}.yaml`;
  if (existsSync(join(root, file))) throw alreadyThere(file);
}

function alreadyThere(file: string): TalosError {
  return new TalosError("already-exists", `${file} is there already`, { hint: "Change it, or choose another name." });
}

/** Where files of environments find their JSON Schema. */
export function schemaPlace(root: string): "checkout" | "project" {
  return existsSync(join(root, "schemas/environment.schema.json")) ? "checkout" : "project";
}

/** Writes environments/<name>.yaml. Never replaces a file. */
export async function writeFirstEnvironment(
  root: string,
  name: string,
  answers: FirstEnvironment,
): Promise<{ readonly file: string; readonly warnings: readonly Fault[] }> {
  const read = fileReader(root);
  const text = firstEnvironment(
    { ...answers, name },
    { schema: schemaPlace(root), base: read("environments/base.yaml") },
  );
  const file = `environments/${name}.yaml`;
  const { warnings } = parseEnvironment(name, (path) => (path === file ? text : read(path)));
  try {
    await writeFileAtomically(join(root, file), text, { mode: 0o644, exclusive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw alreadyThere(file);
  }
  return { file, warnings };
}

/** An environment as it would be with other texts in its files. */
export interface EditedEnvironment {
  readonly environment: Environment;
  /** By path from the root; only those that change. */
  readonly texts: ReadonlyMap<string, string>;
  /** The files as they were when the edit was made. */
  readonly before: ReadFile;
}

/** The files of a project as they are when each is read for the first time: what is edited, and what is compared before it is written. */
export function firstReads(root: string): ReadFile {
  const read = fileReader(root);
  const texts = new Map<string, string | undefined>();
  const first = (file: string) => {
    if (!texts.has(file)) texts.set(file, read(file));
    return texts.get(file);
  };
  return Object.assign(first, read);
}

/** Throws where somebody has edited a file since a change of it was planned: the whole text would be overwritten. */
export function refuseEditedSince(root: string, files: Iterable<string>, before: ReadFile): void {
  const now = fileReader(root);
  const edited = [...files].filter((file) => now(file) !== before(file));
  if (edited.length === 0) return;
  const have = edited.length === 1 ? "has" : "have";
  throw new TalosError("conflict", `${edited.join(", ")} ${have} changed since this was planned`, {
    hint: "Nothing was changed. Run the same command again.",
  });
}

/** With another number of machines in a pool. Nothing is written before `saveTexts`. */
export function withPoolCount(
  root: string,
  { name, file }: Environment,
  pool: string,
  count: number,
): EditedEnvironment {
  const before = firstReads(root);
  const now = before(file) ?? "";
  const text = withCount(now, file, pool, count);
  const texts = new Map(text === now ? [] : [[file, text]]);
  return { environment: loadEnvironment(root, name, texts), texts, before };
}

/** With newer versions, each where it stands: in the environment's own file or its base. */
export function withNewVersions(
  root: string,
  { name }: Environment,
  versions: Readonly<Partial<Record<VersionField, string>>>,
): EditedEnvironment {
  const texts = new Map<string, string>();
  const before = firstReads(root);
  for (const field of ["talosVersion", "kubernetesVersion"] as const) {
    const version = versions[field];
    if (version === undefined) continue;
    const changed = changeVersion(name, field, version, withTexts(before, texts)).texts;
    for (const [file, text] of changed) texts.set(file, text);
  }
  return { environment: loadEnvironment(root, name, texts), texts, before };
}

/**
 * Writes the contract of the environment's configs into its file, where no file has it: it is decided when a cluster is
 * created, and stays when its Talos version moves on. Returns the files that it wrote.
 */
export async function saveContract(root: string, environment: Environment): Promise<readonly string[]> {
  const texts = contractToWrite(environment, fileReader(root));
  await saveTexts(root, texts);
  return [...texts.keys()];
}

/** Removes `previousContract` from the environment's file, once the cluster has the new contract. Returns the files that it wrote. */
export async function forgetPreviousContract(root: string, environment: Environment): Promise<readonly string[]> {
  const texts = migratedContract(environment, fileReader(root));
  await saveTexts(root, texts);
  return [...texts.keys()];
}

/** Each file keeps the mode that it has. */
export async function saveTexts(root: string, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [file, text] of texts) {
    const path = join(root, file);
    await writeFileAtomically(path, text, { mode: (await stat(path)).mode & 0o777 });
  }
}
