// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { writeFileAtomically } from "../atomic-file.ts";
import { TalosError } from "../errors.ts";
import { fileError } from "../file-error.ts";

/** How files begin that are encrypted with age. */
export const ageHeads = { armored: "-----BEGIN AGE ENCRYPTED FILE-----", binary: "age-encryption.org/v1\n" } as const;

export async function readSecretText(path: string): Promise<string> {
  return (await readSecretBytes(path)).toString("utf8");
}

export async function readSecretBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw fileError(
      "open",
      path,
      cause,
      missing ? `Make the secrets with: talosmith gen secrets --output-file ${path}` : undefined,
    );
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
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw secretsExist(path);
  }
}

export function secretsExist(path: string): TalosError {
  return new TalosError("already-exists", `file ${JSON.stringify(path)} already exists, use --force to overwrite`, {
    hint: "Replace it only when no cluster was made with it.",
  });
}
