// SPDX-License-Identifier: Apache-2.0
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { encryptionFileName } from "../../constructs/index.ts";
import { installProvider, type ProviderPackage } from "../../provider/package.ts";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";

interface Stack {
  readonly name: string;
  readonly directory: string;
  readonly provider: ProviderPackage;
  /** Text of the file by which OpenTofu encrypts. */
  readonly encryption?: string | undefined;
}

/**
 * Completes a synthesized stack, so that whoever runs terraform or tofu in it (we, a CDK command, a person) needs
 * neither network nor settings for our provider, and writes the state into a folder that is the owner's alone.
 */
export async function completeStack(root: string, { name, directory, provider, encryption }: Stack): Promise<void> {
  await restoreLock(root, name, directory);
  await installProvider(directory, provider);
  const file = join(directory, encryptionFileName);
  if (encryption === undefined) await rm(file, { force: true });
  else await writeFileAtomically(file, encryption, { mode: 0o644 });
}

/** Terraform writes states with the mode that new files have; ours say what a cluster is made of. */
export async function protectStates(root: string): Promise<void> {
  const folder = join(root, "state");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isFile()) await chmod(join(folder, entry.name), 0o600).catch(unlessGone);
}

/** Terraform's lock of a state goes when its run ends. */
function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Where a project keeps the provider versions and hashes that an environment was reviewed with. */
function committedLock(root: string, environment: string): string {
  return join(root, "locks", `${environment}.hcl`);
}

/**
 * Puts the committed lock file beside a stack, when there is one: synth deletes the stack's folder, and without a lock
 * the CDK commands ask the registry for hashes. Our own provider's entry is added afterwards, whatever the file says.
 */
export async function restoreLock(root: string, environment: string, stack: string): Promise<boolean> {
  const text = await textIfThere(committedLock(root, environment));
  if (text === undefined) return false;
  await writeFileAtomically(join(stack, ".terraform.lock.hcl"), text, { mode: 0o644 });
  return true;
}
