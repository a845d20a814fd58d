// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { TalosError } from "../errors.ts";
import { fileError } from "../file-error.ts";
import type { SecretsBundle } from "./bundle.ts";
import { protectionByName } from "./ensure.ts";
import { ageHeads, readSecretText } from "./file.ts";
import { type FileStore, parseAgeIdentities, readProtectedText, type SecretsStore, secretsStore } from "./store.ts";

/** How a file with secrets is protected. */
type FileProtection = FileStore["kind"];

type Env = Readonly<Record<string, string | undefined>>;

/** How a file is protected, told by the file itself. Throws `not-found`. */
export async function protectionOf(path: string): Promise<FileProtection> {
  return protectionOfText(await readSecretText(path));
}

function protectionOfText(text: string): FileProtection {
  if (Object.values(ageHeads).some((head) => text.startsWith(head))) return "age";
  // SOPS keeps the form of the file and adds a section of its own.
  return /^(?:sops:|\s*"sops":)/m.test(text) ? "sops" : "file";
}

/**
 * Reads a bundle however it is kept: plain, age-encrypted or by SOPS, told by the file itself. The age identity comes
 * from SOPS_AGE_KEY or the file that SOPS_AGE_KEY_FILE names, as for sops.
 */
export async function openSecrets(path: string, env: Env): Promise<SecretsBundle> {
  return (await storeOfFile(path, env)).read();
}

/**
 * The store of a bundle that is there, protected as it is now. A file that is encrypted with age does not tell for
 * whom, so that it can be written only where `recipients` are named. Throws `not-found`.
 */
export async function storeOfFile(path: string, env: Env, recipients: readonly string[] = []): Promise<SecretsStore> {
  return storeAs(await protectionOf(path), path, env, recipients);
}

async function storeAs(kind: FileProtection, path: string, env: Env, recipients: readonly string[]) {
  if (kind !== "age") return secretsStore({ kind, path });
  return secretsStore({ kind, path, recipients, identities: await ageIdentities(env) });
}

/** The file of a bundle, there or still to be made. */
interface BundleFile {
  readonly path: string;
  /** @default a file that is there tells it; a new one is protected by its name */
  readonly protection?: FileProtection | undefined;
  /** For whom a new file is encrypted with age. */
  readonly recipients?: readonly string[];
}

export function bundleFile(
  { path, protection, recipients = [] }: BundleFile,
  env: Env,
): Pick<SecretsStore, "read" | "create"> {
  return {
    async read() {
      const found = protection ?? (await protectionOf(path));
      return (await storeAs(found, path, env, recipients)).read();
    },
    async create(bundle, how) {
      const wanted = protection ?? protectionByName(path);
      return (await storeAs(wanted, path, env, recipients)).create(bundle, how);
    },
  };
}

/** Any text that is kept as a bundle may be, such as a patch that holds a password. Throws `not-found`. */
export async function openProtectedText(path: string, env: Env): Promise<string> {
  const text = await readSecretText(path);
  const kind = protectionOfText(text);
  if (kind === "file") return text;
  return readProtectedText(kind === "age" ? { kind, path, identities: await ageIdentities(env) } : { kind, path });
}

/** What opens files that are encrypted with age: SOPS_AGE_KEY, or the file that SOPS_AGE_KEY_FILE names, as for sops. */
async function ageIdentities({ SOPS_AGE_KEY: keys, SOPS_AGE_KEY_FILE: file }: Env): Promise<readonly string[]> {
  if (keys) return parseAgeIdentities(keys);
  if (!file) return [];
  try {
    return parseAgeIdentities(await readFile(file, "utf8"));
  } catch (cause) {
    // Never `not-found`: whoever looks for secrets would take those that are there for none.
    const { message } = fileError("open", file, cause);
    const hint = "SOPS_AGE_KEY_FILE names the file with your age identities.";
    throw new TalosError("failed-precondition", message, { hint, cause });
  }
}
