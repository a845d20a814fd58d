// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { writeFileAtomically } from "../atomic-file.ts";
import { TalosError } from "../errors.ts";
import type { SecretsBundle } from "./bundle.ts";
import { encodeSecrets, parseSecrets } from "./codec.ts";

/** Reads a bundle from a plain file. Throws `not-found` when there is none. */
export async function readSecretsFile(path: string): Promise<SecretsBundle> {
  return parseSecrets(await readSecretText(path), path);
}

/**
 * Writes a bundle with mode 0600 to a file that must not exist yet: losing a bundle means losing the cluster, so an
 * existing one is replaced only when `replace` says so.
 */
export async function createSecretsFile(
  path: string,
  bundle: SecretsBundle,
  options: { readonly replace?: boolean } = {},
): Promise<void> {
  await writeSecretText(path, encodeSecrets(bundle), options);
}

export async function readSecretText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new TalosError(missing ? "not-found" : "unavailable", `${path}: cannot read the secrets file`, {
      hint: missing ? `Make one with: talosmith gen secrets --output-file ${path}` : "Check the file's permissions.",
      cause,
    });
  }
}

export async function writeSecretText(
  path: string,
  text: string,
  options: { readonly replace?: boolean } = {},
): Promise<void> {
  try {
    await writeFileAtomically(path, text, { exclusive: options.replace !== true });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    if (exists) {
      throw new TalosError("already-exists", `file ${JSON.stringify(path)} already exists, use --force to overwrite`, {
        hint: "Replace it only when no cluster was made with it.",
        cause,
      });
    }
    throw new TalosError("unavailable", `${path}: cannot write the secrets file`, { cause });
  }
}
