// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { type EngineOptions, withContext } from "./engine.ts";
import { configured } from "./quorum.ts";
import { type SnapshotSummary, writeSnapshot } from "./snapshot-file.ts";

export interface SnapshotOptions extends EngineOptions {
  /** Where it goes; a file of this name is replaced once the new one is whole. */
  readonly path: string;
}

export interface SnapshotResult extends SnapshotSummary {
  readonly machine: string;
}

/** Saves etcd to a file, from a healthy member that does not lead where there is one, and makes sure that it is whole. */
export function saveSnapshot(options: SnapshotOptions): Promise<SnapshotResult> {
  return withContext(options, async (context) => {
    const observed = await context.observe();
    const able = context.desired.machines.flatMap((machine) => {
      const etcd = configured(observed.machines.get(machine.name))?.etcd;
      return etcd?.healthy === true ? [{ machine, leads: etcd.memberId === etcd.leaderId }] : [];
    });
    const chosen = able.find(({ leads }) => !leads) ?? able[0];
    if (chosen === undefined) {
      throw new TalosError("unavailable", "no control plane has a healthy etcd to take a snapshot from");
    }
    const chunks = context.machines.snapshot(chosen.machine, context.signal);
    const summary = await writeSnapshot(options.path, chunks);
    return { ...summary, machine: chosen.machine.name };
  });
}
