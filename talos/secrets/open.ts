// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { fileError } from "../file-error.ts";
import type { SecretsBundle } from "./bundle.ts";
import { parseSecrets } from "./codec.ts";
import { readSecretText } from "./file.ts";
import { parseAgeIdentities, readProtectedText, secretsStore } from "./store.ts";

type Env = Readonly<Record<string, string | undefined>>;

const ageHeader = "-----BEGIN AGE ENCRYPTED FILE-----";
// SOPS keeps the form of the file and adds a section of its own.
const sopsSection = /^(?:sops:|\s*"sops":)/m;

/**
 * Reads a bundle however it is kept: plain, age-encrypted or by SOPS, told by the file itself. The age identity comes
 * from SOPS_AGE_KEY or the file that SOPS_AGE_KEY_FILE names, as for sops.
 */
export async function openSecrets(path: string, env: Env): Promise<SecretsBundle> {
  const text = await readSecretText(path);
  if (text.startsWith(ageHeader)) {
    return await secretsStore({ kind: "age", path, identities: await ageIdentities(env) }).read();
  }
  if (sopsSection.test(text)) return await secretsStore({ kind: "sops", path }).read();
  return parseSecrets(text, path);
}

/** Any text that is kept as a bundle may be, such as a patch that holds a password. Throws `not-found`. */
export async function openProtectedText(path: string, env: Env): Promise<string> {
  const text = await readSecretText(path);
  if (text.startsWith(ageHeader)) return readProtectedText({ kind: "age", path, identities: await ageIdentities(env) });
  return sopsSection.test(text) ? readProtectedText({ kind: "sops", path }) : text;
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
