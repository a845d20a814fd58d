// SPDX-License-Identifier: Apache-2.0
import type { Schedule } from "../engine/backup/index.ts";
import type { EventListener, Step } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import type { ClusterLook } from "./cluster-observation.ts";
import type { Conditions } from "./condition.ts";

/** What came of a backup. */
export interface BackupTaken {
  readonly id: string;
  readonly bytes: number;
  /** Names of the older ones that were pruned. */
  readonly removed: readonly string[];
}

/** The project as the operator sees it: workspaces behind an interface that tests replace. */
export interface WatchedProject {
  /** The environments to watch; asked again all the time. */
  environmentNames(): readonly string[];
  /** Throws with all faults when the file has any. The same object as before while no file that it is made of has changed. */
  load(name: string): Environment;
  /** Throws where there is nothing to look at, such as an environment that is not deployed. */
  look(environment: Environment, signal: AbortSignal): Promise<ClusterLook>;
  /** Brings the machines to what the file says. `review` sees the steps of every round and throws to refuse them. */
  repair(
    environment: Environment,
    review: (steps: readonly Step[]) => void,
    events: EventListener,
    signal: AbortSignal,
  ): Promise<void>;
  backup(environment: Environment, onRetry: (reason: string) => void, signal: AbortSignal): Promise<BackupTaken>;
  /** What was found when somebody last looked; undefined when nobody did. */
  readConditions(name: string): Promise<Conditions | undefined>;
  writeConditions(name: string, conditions: Conditions): Promise<void>;
}

/** When the file wants backups; undefined when only by hand. */
export function scheduleOf({ backup }: Environment): Schedule | undefined {
  if (backup?.schedule === undefined) return undefined;
  return { cron: backup.schedule, timeZone: backup.timeZone, jitter: backup.jitter };
}
