// SPDX-License-Identifier: Apache-2.0
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, relative } from "node:path";
import type { Review } from "../../review/index.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import type { EnvironmentOnDisk, WorkspaceContext } from "../context.ts";
import { beginRecord, type ChangeRecord, newestFile, removeRecord, writeRecord } from "./change-record.ts";
import {
  backUpState,
  cutOffChange,
  isCutOff,
  parseState,
  readState,
  requireRoom,
  type StateText,
  stateFile,
} from "./state-file.ts";
import { atWork, isLocked, lockFileOf, lockOf } from "./state-lock.ts";
import { type TerraformEnd, TerraformError } from "./terraform.ts";

type LockContext = Pick<WorkspaceContext, "cwd" | "env" | "signal">;

interface KeptState {
  readonly path: string;
  /** Addresses of what the change creates and a rerun would create a second time: of resources that are not talosmith's own. */
  readonly others: readonly string[];
  readonly context: LockContext;
  /** What went wrong with the state meanwhile; the outcome of the change counts for more. */
  readonly warn: (message: string) => void;
}

/**
 * Copies a local state before and after a change, also after one that failed: what it made is in the state then.
 *
 * A terraform that is killed while it writes the state leaves it empty or cut off. The version from before that write is put
 * back when the terraform of this change was killed or has crashed, no process holds the state's lock, and everything that
 * the change creates is of talosmith's own types, which find what exists. Otherwise the file stays as it is, and the warning
 * names the copy of that version. Where talosmith is killed as well, `putBackCutOff` does the same at the next change.
 */
export async function keepingState<T>(kept: KeptState, change: () => Promise<T>): Promise<T> {
  const { path, others, warn } = kept;
  const before = await readState(path);
  await requireRoom(path, before);
  if (before !== undefined) await backUpState(path, before);
  const versions = followVersions(path, await beginRecord(path, before?.text, others));
  let end: TerraformEnd = "failed";
  try {
    return await change();
  } catch (error) {
    if (error instanceof TerraformError) end = error.end;
    throw error;
  } finally {
    await versions.close();
    await settle(kept, end, versions, versions.newest() ?? before).catch((error: unknown) =>
      warn(`no copy of the state was made after the change: ${TalosError.from(error).text}`),
    );
  }
}

/** Throws where the state stays cut off, or cannot be copied. */
async function settle(
  { path, others, context, warn }: KeptState,
  end: TerraformEnd,
  versions: Pick<Versions, "leave" | "forget">,
  newest: StateText | undefined,
): Promise<void> {
  // What the file has is another run's, which may be writing it.
  if (end === "locked") return versions.forget();
  if (await isCutOff(path)) {
    const mends = end === "killed" && others.length === 0;
    if (mends && (await putBack(path, newest ?? "none", context))) {
      warn(
        `Terraform was killed while it wrote ${path}. The version before that write is back; the next deploy continues from there.`,
      );
    } else {
      await (end === "killed" ? versions.leave() : versions.forget());
      if (newest !== undefined) await backUpState(path, newest);
    }
  }
  const state = await readState(path);
  await versions.forget();
  if (state !== undefined) await backUpState(path, state);
}

/** Puts a version in place of a state that is cut off. False where a process holds its lock, or it is whole by now. */
async function putBack(path: string, version: StateText | "none", context: LockContext): Promise<boolean> {
  if ((await isLocked(path, context)) || !(await isCutOff(path))) return false;
  if (version === "none") await rm(path);
  else await writeFileAtomically(path, version.text);
  return true;
}

/** Before a change: mends a state of which talosmith and terraform were killed together while it was written, and says so. */
export async function putBackCutOff({ root, environment, context }: EnvironmentOnDisk): Promise<void> {
  if (environment.backend.kind !== "local") return;
  const path = stateFile(root, environment.name);
  const change = await cutOffChange(path);
  const lock = await lockOf(path);
  if (change?.version === undefined || change.others.length > 0 || lock === undefined) return;
  if (!(await putBack(path, change.version, context))) return;
  await removeRecord(path);
  context.stderr.write(
    `Put ${relative(root, path)} back as it was before a write that was cut off: ${atWork(lock, "was")}, and that process has ended.\n`,
  );
}

/** A create that is lost to the state is made a second time. talosmith's own types find what exists; secrets are in the state alone. */
export function othersCreated({ resources }: Pick<Review, "resources">): readonly string[] {
  const isFound = (type: string) => type.startsWith("talosmith_") && type !== "talosmith_secrets";
  return resources
    .filter(({ type, action }) => !isFound(type) && (action === "create" || action === "replace"))
    .map(({ address }) => address);
}

interface Versions {
  /** Ends the watch, and waits for what is being recorded. */
  close(): Promise<void>;
  newest(): StateText | undefined;
  /** Removes the record. */
  forget(): Promise<void>;
  /** Leaves the record of a change that has ended to the next run. */
  leave(): Promise<void>;
}

/**
 * Remembers the newest whole version of a state while Terraform changes it, and records it on disk. Terraform writes the file
 * in place, after each resource: when it is killed meanwhile, the file is empty, and its own copy is the one from before the
 * change.
 */
function followVersions(path: string, record: ChangeRecord | undefined): Versions {
  let known = record;
  let newest: string | undefined;
  let recorded = Promise.resolve();
  const later = (work: (known: ChangeRecord) => Promise<void>) => {
    // A disk that is full does not end the change: what was recorded before is still there.
    if (known !== undefined) recorded = recorded.then(() => known && work(known)).catch(() => {});
  };
  const update = async (changed: ChangeRecord) => {
    known = changed;
    await writeRecord(path, changed);
  };
  const readVersion = () => {
    try {
      // At once: the next write begins by emptying the file.
      const text = readFileSync(path, "utf8");
      if (!isClosed(text)) return;
      newest = text;
      later(async () => {
        // One after the other; of several that have come meanwhile, only the last.
        if (text === newest) await writeFileAtomically(newestFile(path), text);
      });
    } catch {
      // Removed meanwhile, or not readable: the newest version is still the one that was seen.
    }
  };
  const readLock = () =>
    later(async (before) => {
      const lock = (await lockOf(path))?.ID;
      if (lock && lock !== before.lock) await update({ ...before, lock });
    });
  const watcher = watcherOf(dirname(path));
  watcher?.on("change", (_, file) => {
    if (file === basename(path)) readVersion();
    if (file === basename(lockFileOf(path))) readLock();
  });
  return {
    close: () => {
      watcher?.close();
      return recorded;
    },
    newest: () => (newest === undefined ? undefined : parseState(newest)),
    forget: async () => {
      if (known !== undefined) await removeRecord(path);
    },
    leave: async () => {
      if (known !== undefined) await update({ ...known, process: undefined });
    },
  };
}

/** Undefined where the system has no more to give: only the version from before the change is known then. */
function watcherOf(folder: string): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false });
    return watcher.on("error", () => watcher.close());
  } catch {
    return undefined;
  }
}

/** Whether a text may be a whole state, without reading megabytes of JSON after each resource. */
function isClosed(text: string): boolean {
  return text.startsWith("{\n") ? text.endsWith("\n}\n") : text.trimEnd().endsWith("}");
}
