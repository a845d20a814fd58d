// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";

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
