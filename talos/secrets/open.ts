// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { fileError } from "../file-error.ts";
import type { SecretsBundle } from "./bundle.ts";
import { parseSecrets } from "./codec.ts";
import { readSecretText } from "./file.ts";
import { parseAgeIdentities, secretsStore } from "./store.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads a bundle however it is kept: plain, age-encrypted or by SOPS, told by the file itself. The age identity comes
 * from SOPS_AGE_KEY or the file that SOPS_AGE_KEY_FILE names, as for sops.
 */
export async function openSecrets(path: string, env: Env): Promise<SecretsBundle> {
  const text = await readSecretText(path);
  if (text.startsWith("-----BEGIN AGE ENCRYPTED FILE-----")) {
    return await secretsStore({ kind: "age", path, identities: await ageIdentities(env) }).read();
  }
  // SOPS keeps the form of the file and adds a section of its own.
  if (/^(?:sops:|\s*"sops":)/m.test(text)) return await secretsStore({ kind: "sops", path }).read();
  return parseSecrets(text, path);
}

async function ageIdentities(env: Env): Promise<readonly string[]> {
  if (env.SOPS_AGE_KEY) return parseAgeIdentities(env.SOPS_AGE_KEY);
  if (!env.SOPS_AGE_KEY_FILE) return [];
  try {
    return parseAgeIdentities(await readFile(env.SOPS_AGE_KEY_FILE, "utf8"));
  } catch (cause) {
    throw fileError("open", env.SOPS_AGE_KEY_FILE, cause, "SOPS_AGE_KEY_FILE names the file with your age identities.");
  }
}
