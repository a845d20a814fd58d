// SPDX-License-Identifier: Apache-2.0
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";

export interface ObjectChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** `<resource>/<namespace>/<name>` */
  readonly key: string;
  readonly object: KubernetesObject;
  readonly revision: number;
}

/** How many changes a watch may be behind before it has to list again. */
const kept = 2_000;

/** The recent changes of each cluster's objects: what watches read. One per simulation. */
export class ObjectHistory {
  readonly #changes = new Map<string, ObjectChange[]>();
  readonly #since = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  constructor(simulation: Simulation) {
    for (const cluster of Object.values(simulation.world.clusters)) this.#since.set(cluster.key, cluster.revision);
    simulation.subscribe((next, previous) => {
      if (next.clusters === previous.clusters) return;
      for (const key of Object.keys(previous.clusters)) if (next.clusters[key] === undefined) this.#forget(key);
      for (const cluster of Object.values(next.clusters)) this.#record(previous.clusters[cluster.key], cluster);
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** The changes after a revision; undefined when they are no longer all known. */
  after(clusterKey: string, revision: number): readonly ObjectChange[] | undefined {
    if (revision < (this.#since.get(clusterKey) ?? 0)) return undefined;
    return (this.#changes.get(clusterKey) ?? []).filter((change) => change.revision > revision);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A cluster of the same key may come again, and its revisions then begin anew. */
  #forget(clusterKey: string): void {
    this.#changes.delete(clusterKey);
    this.#since.delete(clusterKey);
  }

  #record(before: Cluster | undefined, after: Cluster): void {
    if (before?.objects === after.objects) return;
    // Another etcd, empty or from a snapshot, is in the place of the one before.
    const isNew = before !== undefined && after.revision < before.revision;
    if (isNew) this.#forget(after.key);
    const changes = this.#changes.get(after.key) ?? [];
    const old = isNew ? {} : (before?.objects ?? {});
    for (const [key, object] of Object.entries(after.objects)) {
      const known = old[key];
      if (known === object) continue;
      const replaced = known !== undefined && known.metadata.uid === object.metadata.uid;
      const revision = Number(object.metadata.resourceVersion);
      changes.push({ type: replaced ? "MODIFIED" : "ADDED", key, object, revision });
    }
    for (const [key, object] of Object.entries(old)) {
      if (after.objects[key] === undefined) changes.push({ type: "DELETED", key, object, revision: after.revision });
    }
    changes.sort((a, b) => a.revision - b.revision);
    const dropped = changes.splice(0, Math.max(0, changes.length - kept));
    const last = dropped.at(-1);
    if (last !== undefined) this.#since.set(after.key, last.revision);
    this.#changes.set(after.key, changes);
  }
}

const histories = new WeakMap<Simulation, ObjectHistory>();

export function historyOf(simulation: Simulation): ObjectHistory {
  const known = histories.get(simulation) ?? new ObjectHistory(simulation);
  histories.set(simulation, known);
  return known;
}
