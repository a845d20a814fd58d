// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";

/** A check that must pass before anything is done to a machine in use: a command that ends with 0, or a URL that answers with 2xx. */
export type Gate = ({ readonly command: readonly string[] } | { readonly url: string }) & {
  /** How long it is asked again, in milliseconds, until the run stops. */
  readonly timeout: number;
};

/** When changes of machines in use may begin: at each time of a cron expression, for so many milliseconds. */
export interface Window {
  readonly schedule: string;
  readonly timeZone: string;
  readonly duration: number;
}

/** The first machines of a change, after which it waits. */
export interface Canary {
  readonly machines: number;
  /** Milliseconds that they are watched for before it goes on. */
  readonly soak: number;
  /** `stop`: the run ends there, and the next one goes on. */
  readonly afterwards: "stop" | "continue";
}

/** How careful a rollout is, and how much of a cluster must be well before the work counts as done. */
export interface Policy {
  /**
   * How many workers may be unavailable at the same time, as a number or as a share of all workers, rounded down to at
   * least one. Workers that are unavailable already count. Control planes always go one by one. @default 1
   */
  readonly maxUnavailable: number | `${number}%`;
  /** How long pods have to leave a machine, in milliseconds. @default 5 minutes */
  readonly drainTimeout: number;
  /**
   * What becomes of pods that have not left a machine when that time is up. `fail`: nothing happens to the
   * machine. `delete`: they are deleted whatever their disruption budgets say. `leave`: they go down with the machine.
   * @default "fail"
   */
  readonly stuckPods: "fail" | "delete" | "leave";
  /** Boot the old Talos again where the new one does not become healthy in time. @default true */
  readonly revertFailedUpgrades: boolean;
  /** False where Kubernetes cannot run at all, such as Talos in a container: then it is not waited for. @default true */
  readonly kubernetes: boolean;
  /**
   * When a cluster counts as up. `full`: all checks of `talosctl health` hold. `api`: etcd is healthy on all control
   * planes and the Kubernetes API answers at the endpoint; machines that join are not waited for as nodes. For whoever
   * installs the network plugin that nodes need to become ready. @default "full"
   */
  readonly healthLevel: "full" | "api";
  /** All must pass before anything is done to a machine in use. @default none */
  readonly gates: readonly Gate[];
  /** Outside of them nothing is begun on machines in use. @default none: at any time */
  readonly windows: readonly Window[];
  /** @default none: all machines, one after another */
  readonly canary?: Canary;
}

export const defaultPolicy: Policy = {
  maxUnavailable: 1,
  drainTimeout: 300_000,
  stuckPods: "fail",
  revertFailedUpgrades: true,
  kubernetes: true,
  healthLevel: "full",
  gates: [],
  windows: [],
};

/** `maxUnavailable` for this many workers. */
export function unavailableLimit({ maxUnavailable }: Pick<Policy, "maxUnavailable">, workers: number): number {
  const limit =
    typeof maxUnavailable === "number"
      ? maxUnavailable
      : Math.max(1, Math.floor((workers * Number(maxUnavailable.slice(0, -1))) / 100));
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new TalosError("invalid-input", `maxUnavailable is ${maxUnavailable}`, {
    hint: 'Give a whole number from 1 on, or a share such as "25%".',
  });
}
