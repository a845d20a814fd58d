// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import type { SecretsBundle } from "./bundle.ts";
import { type GenerateOptions, generateSecrets } from "./generate.ts";
import type { FileStore, SecretsStore } from "./store.ts";

export interface EnsureOptions extends GenerateOptions {
  readonly store: Pick<SecretsStore, "read" | "create">;
  /** The file of the store. Undefined where the bundle outlives this machine anyway, as in a Kubernetes Secret. */
  readonly file?: string;
  /** Nothing of value can come of this cluster, such as one of simulated machines. */
  readonly throwaway: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The bundle of a store; undefined when there is none. */
export async function findStored(store: Pick<SecretsStore, "read">): Promise<SecretsBundle | undefined> {
  try {
    return await store.read();
  } catch (error) {
    if (hasCode(error, "not-found")) return undefined;
    throw error;
  }
}

/**
 * The secrets of a new cluster: those that are stored, or new ones. Of two first calls at once one wins, and both use its
 * bundle. Throws `failed-precondition` where a new file would be lost with a build machine.
 */
export async function ensureStored({ store, file, throwaway, env, ...how }: EnsureOptions): Promise<SecretsBundle> {
  const found = await findStored(store);
  if (found !== undefined) return found;
  if (file !== undefined && !throwaway && isBuildMachine(env))
    throw new TalosError(
      "failed-precondition",
      `secrets would be lost with this machine: ${file} does not exist, and CI is set`,
      { hint: `Create the file where you keep it: talosmith gen secrets --output-file ${file}` },
    );
  const made = await generateSecrets(how);
  try {
    await store.create(made);
    return made;
  } catch (error) {
    if (hasCode(error, "already-exists")) return store.read();
    throw error;
  }
}

/** How a new file is protected, by its name. */
export function protectionByName(file: string): FileStore["kind"] {
  if (file.endsWith(".age")) return "age";
  return /\.sops\.ya?ml$/.test(file) ? "sops" : "file";
}

/** A machine on which no file is kept. */
function isBuildMachine({ CI }: EnsureOptions["env"]): boolean {
  return CI !== undefined && !["", "0", "false"].includes(CI.toLowerCase());
}

function hasCode(error: unknown, code: TalosError["code"]): boolean {
  return (error as { readonly code?: unknown }).code === code;
}
