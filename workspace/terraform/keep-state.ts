// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { backUpState, requireRoom } from "./state-backup.ts";
import { readState } from "./state-file.ts";

/**
 * Copies a local state before and after a change, also after one that failed: what it made is in the state then.
 * `warn` gets the reason when the second copy could not be made; the outcome of the change counts for more.
 */
export async function keepingState<T>(
  path: string,
  warn: (message: string) => void,
  change: () => Promise<T>,
): Promise<T> {
  const before = await readState(path);
  await requireRoom(path, before);
  if (before !== undefined) await backUpState(path, before);
  try {
    return await change();
  } finally {
    await copy(path).catch((error: unknown) =>
      warn(`no copy of the state was made after the change: ${TalosError.from(error).message}`),
    );
  }
}

async function copy(path: string): Promise<void> {
  const state = await readState(path);
  if (state !== undefined) await backUpState(path, state);
}
