// SPDX-License-Identifier: Apache-2.0
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { formerClusterKey, readNodeConfig } from "../machine/node-config.ts";
import type { Cluster, Machine, World } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";

/** Grows when older files can no longer be read. */
const format = 1;
const formatFile = "format.json";

/** Reads the world that an earlier daemon left; an empty one when there is none. Throws when it is of another format. */
export async function loadWorld(directory: string): Promise<World> {
  await checkFormat(directory);
  await finishChanges(directory);
  const machines = await readAll<Machine>(join(directory, "machines"));
  const clusters = await readAll<Cluster>(join(directory, "clusters"));
  return {
    machines: Object.fromEntries(machines.map((machine) => [machine.id, machine])),
    clusters: Object.fromEntries(clusters.map(renamed(machines)).map((cluster) => [cluster.key, cluster])),
  };
}

/** Clusters were once told apart by the CAs of their machines, which may be exchanged. */
function renamed(machines: readonly Machine[]): (cluster: Cluster) => Cluster {
  const keys = new Map<string, string>();
  for (const { activeConfig, disk } of machines) {
    const text = activeConfig ?? disk.config;
    if (text !== undefined) keys.set(formerClusterKey(text), readNodeConfig(text).clusterKey);
  }
  return (cluster) => ({ ...cluster, key: keys.get(cluster.key) ?? cluster.key });
}

async function checkFormat(directory: string): Promise<void> {
  const path = join(directory, formatFile);
  const found = await readJson(path);
  if (found === format) return;
  if (found === undefined) return writeFileAtomically(path, String(format));
  const message = `${directory} holds simulated machines of format ${String(found)}, not ${format}`;
  throw new TalosError("failed-precondition", message, {
    hint: "they were made by another version of talosmith: use that version, or remove the directory to start anew",
  });
}

async function readAll<T>(folder: string): Promise<T[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json") && !name.startsWith("."));
  return Promise.all(names.map(async (name) => (await readJson(join(folder, name))) as T));
}

/** Undefined when there is no such file. */
async function readJson(path: string): Promise<unknown> {
  const text = await textIfThere(path);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new TalosError("failed-precondition", `${path} is damaged: ${(cause as Error).message}`, {
      hint: "Restore the file, or remove it: what it describes, a simulated machine or cluster, is then gone.",
      cause,
    });
  }
}

export interface WorldStore {
  /** Resolves when everything up to now is on disk; tells why it is not. */
  flush(): Promise<void>;
  /** Stops following the simulation, after the last write. */
  close(): Promise<void>;
}

/** Writes every machine and cluster that changed to its own file. Writes of one moment are joined. */
export function keepWorld(directory: string, simulation: Simulation, onError: (error: unknown) => void): WorldStore {
  let saved: Record<keyof World, Saved> = simulation.world;
  let work: Promise<void> = Promise.resolve();
  let queued = false;
  let failure: { readonly error: unknown } | undefined;
  const save = async (): Promise<void> => {
    queued = false;
    const { world } = simulation;
    const previous = saved;
    saved = world;
    try {
      await saveTogether(directory, {
        machines: changesOf(previous.machines, world.machines),
        clusters: changesOf(previous.clusters, world.clusters),
      });
      failure = undefined;
    } catch (error) {
      saved = {
        machines: unsure(previous.machines, world.machines),
        clusters: unsure(previous.clusters, world.clusters),
      };
      failure = { error };
      onError(error);
    }
  };
  const enqueue = (): void => {
    if (queued) return;
    queued = true;
    work = work.then(save);
  };
  const unsubscribe = simulation.subscribe(enqueue);
  const flush = async (): Promise<void> => {
    if (failure !== undefined) enqueue();
    await work;
    if (failure !== undefined) throw failure.error;
  };
  return {
    flush,
    close() {
      unsubscribe();
      return flush();
    },
  };
}

type Saved = Readonly<Record<string, unknown>>;

/** After a write that failed, what is on disk is neither the old nor the new: the next one writes or removes it all. */
function unsure(before: Saved, after: Saved): Saved {
  return Object.fromEntries(Object.keys({ ...before, ...after }).map((key) => [key, undefined]));
}

/** What is on disk from now on, by key; null for what is gone. */
type Changes = Readonly<Record<keyof World, Readonly<Record<string, unknown>>>>;

function changesOf(before: Saved, after: Saved): Readonly<Record<string, unknown>> {
  const changed = Object.entries(after).filter(([key, value]) => before[key] !== value);
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null] as const)]);
}

const changesFile = "changes.json";

/**
 * A machine and its cluster know of each other, such as an etcd member of its cluster: a daemon that is killed must not
 * leave one of them as it was. So their changes are noted together first, and the next daemon finishes them.
 */
async function saveTogether(directory: string, changes: Changes): Promise<void> {
  const isBoth = Object.values(changes).every((part) => Object.keys(part).length > 0);
  if (isBoth) await writeFileAtomically(join(directory, changesFile), JSON.stringify(changes));
  await applyChanges(directory, changes);
  if (isBoth) await rm(join(directory, changesFile), { force: true });
}

async function finishChanges(directory: string): Promise<void> {
  const changes = (await readJson(join(directory, changesFile))) as Changes | undefined;
  if (changes === undefined) return;
  await applyChanges(directory, changes);
  await rm(join(directory, changesFile), { force: true });
}

async function applyChanges(directory: string, changes: Changes): Promise<void> {
  // Waits for all of them: one that still ran could put an older state over what is written next.
  const done = await Promise.allSettled(
    (["machines", "clusters"] as const).flatMap((part) =>
      Object.entries(changes[part]).map(([key, value]) => {
        const path = join(directory, part, `${key}.json`);
        return value === null ? rm(path, { force: true }) : writeFileAtomically(path, JSON.stringify(value));
      }),
    ),
  );
  for (const outcome of done) if (outcome.status === "rejected") throw outcome.reason;
}
