// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { giveInput } from "../child-input.ts";
import { TalosError } from "../errors.ts";
import type { SecretsBundle } from "./bundle.ts";
import { encodeSecrets, parseSecrets } from "./codec.ts";
import { readSecretText, writeSecretText } from "./file.ts";

/** Where a bundle is kept, and how it is protected there. */
export interface SecretsStore {
  read(): Promise<SecretsBundle>;
  /** Fails with `already-exists` when there is a bundle already, unless `replace` says so. */
  create(bundle: SecretsBundle, options?: { readonly replace?: boolean }): Promise<void>;
  /** Puts `next` in the place of `known`. Fails with `conflict` when somebody else has put another one there. */
  exchange(known: SecretsBundle, next: SecretsBundle): Promise<void>;
}

/** A Secret of a Kubernetes cluster, by whoever can reach it. */
export interface KeptSecret {
  /** Names it in errors. */
  readonly place: string;
  /** Undefined when the Secret, or this key of it, is not there. */
  read(key: string): Promise<string | undefined>;
  /** `expects` sees what is there at the moment of writing, and throws to keep it. */
  write(key: string, text: string, expects?: (found: string | undefined) => void): Promise<void>;
}

/** The key of a Secret under which a bundle is kept. */
const bundleKey = "secrets.yaml";

export type StoreOptions = FileStore | { readonly kind: "kubernetes"; readonly secret: KeptSecret };

/** A file, and how it is protected. */
export type FileStore =
  | { readonly kind: "file"; readonly path: string }
  | {
      readonly kind: "age";
      readonly path: string;
      /** `age1…`; needed for writing. */
      readonly recipients?: readonly string[];
      /** `AGE-SECRET-KEY-1…`; needed for reading. */
      readonly identities?: readonly string[];
    }
  /** Through the `sops` program, which finds its keys by its own configuration. */
  | { readonly kind: "sops"; readonly path: string; readonly program?: string };

export function secretsStore(options: StoreOptions): SecretsStore {
  if (options.kind === "kubernetes") return keptStore(options.secret);
  const { path } = options;
  const read = async () => parseSecrets(await readProtectedText(options), path);
  const create: SecretsStore["create"] = (bundle, how) => createProtectedText(options, encodeSecrets(bundle), how);
  return {
    read,
    create,
    // Whoever exchanges it holds the lock beside it.
    async exchange(known, next) {
      refuseChanged([known, next], await read(), path);
      await create(next, { replace: true });
    },
  };
}

function keptStore(secret: KeptSecret): SecretsStore {
  const { place } = secret;
  return {
    read: async () => parseSecrets(await readKept(secret), place),
    create: (bundle, how) =>
      secret.write(bundleKey, encodeSecrets(bundle), (found) => {
        if (found !== undefined && how?.replace !== true)
          throw new TalosError("already-exists", `${place} has ${bundleKey} already`);
      }),
    exchange: (known, next) =>
      secret.write(bundleKey, encodeSecrets(next), (found) =>
        refuseChanged([known, next], found === undefined ? undefined : parseSecrets(found, place), place),
      ),
  };
}

/** `next` is there already when only the answer to an earlier attempt was lost. */
function refuseChanged(expected: readonly SecretsBundle[], found: SecretsBundle | undefined, place: string): void {
  if (found !== undefined && expected.some((bundle) => encodeSecrets(bundle) === encodeSecrets(found))) return;
  throw new TalosError("conflict", `the secrets in ${place} are not those that this run began with`, {
    hint: "Somebody else has changed them meanwhile. Look what it was, and run this again.",
  });
}

/** Any text that is kept the way a bundle is, such as a patch that holds a password. Throws `not-found`. */
export async function readProtectedText(options: FileStore): Promise<string> {
  const { path } = options;
  switch (options.kind) {
    case "file":
      return readSecretText(path);
    case "age":
      return (await age()).openAge(path, options.identities ?? []);
    case "sops":
      await readSecretText(path);
      return runSops(options, ["--decrypt", "--output-type", "yaml", path]);
  }
}

/**
 * Writes such a text the way a bundle is written: with mode 0600, and to a file that must not exist yet, unless
 * `replace` says so. Losing a bundle means losing the cluster.
 */
export async function createProtectedText(
  options: FileStore,
  text: string,
  how?: { readonly replace?: boolean },
): Promise<void> {
  await writeSecretText(options.path, await protectedText(options, text), how);
}

/** Secrets go to and from `sops` through pipes and the encrypted file, never through arguments or plain files. */
async function protectedText(options: FileStore, text: string): Promise<string> {
  const { path } = options;
  switch (options.kind) {
    case "file":
      return text;
    case "age":
      return (await age()).sealAge(text, options.recipients ?? [], path);
    case "sops": {
      const types = ["--input-type", "yaml", "--output-type", "yaml"];
      return runSops(options, ["--encrypt", ...types, "--filename-override", path, "/dev/stdin"], text);
    }
  }
}

async function readKept(secret: KeptSecret): Promise<string> {
  const text = await secret.read(bundleKey);
  if (text !== undefined) return text;
  throw new TalosError("not-found", `${secret.place} has no ${bundleKey}`, {
    hint: `Put the cluster's secrets bundle into it, under the key ${bundleKey}.`,
  });
}

/** Its ciphers take long to load, and most bundles are in plain files. */
const age = () => import("./age.ts");

/** The bundle as an armored age file for these recipients (`age1…`). `what` names it in errors. */
export async function sealSecrets(
  bundle: SecretsBundle,
  recipients: readonly string[],
  what = "the secrets",
): Promise<string> {
  return (await age()).sealAge(encodeSecrets(bundle), recipients, what);
}

async function runSops(
  { path, program = "sops" }: FileStore & { readonly kind: "sops" },
  args: readonly string[],
  input?: string,
): Promise<string> {
  try {
    // Node's own pipe to a child is a socket, which sops cannot open as /dev/stdin; the shell makes a real pipe.
    const piped = ["-c", 'cat | "$0" "$@"', program, ...args];
    const [command, given] = input === undefined ? [program, [...args]] : ["sh", piped];
    const running = promisify(execFile)(command, given, { maxBuffer: 8 * 1024 * 1024 });
    giveInput(running.child.stdin, input ?? "");
    return (await running).stdout;
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    if (code === "ENOENT" || code === 127) {
      throw new TalosError("unavailable", `${path}: the program ${program} was not found`, {
        hint: "Install sops, or keep the secrets in a plain or age-encrypted file.",
        cause,
      });
    }
    // Only what sops says about the failure; its output may hold what was decrypted.
    const reason =
      String((cause as { stderr?: unknown }).stderr ?? "")
        .trim()
        .split("\n")[0] ?? "";
    throw new TalosError("permission-denied", `${path}: sops failed: ${reason}`, {
      hint: "Check your keys and .sops.yaml with: sops --decrypt <file>",
    });
  }
}

/** The identities in an age key file: its lines that are neither empty nor comments. */
export function parseAgeIdentities(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
