// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { type ClusterAccess, lockFilesOf, withAccess } from "../engine.ts";
import type { LeaseState } from "../machines.ts";
import { type LockHolder, lockHolder, removeLock } from "./lock-file.ts";
import { type Claim, refuseOtherOwner, released } from "./ownership.ts";

/** Who holds a cluster: on this computer, and by the cluster's own book. */
export interface LockState {
  readonly local?: LockHolder;
  readonly lease?: LeaseState;
  /** Why the cluster's book could not be looked into. */
  readonly leaseUnknown?: string;
}

export async function lockState(options: ClusterAccess): Promise<LockState> {
  return withAccess(options, async ({ machines, signal }) => {
    const local = await localHolder(options);
    try {
      return given({ local, lease: await machines.kubernetes.readLease(signal) });
    } catch (error) {
      const ours = TalosError.from(error);
      if (ours.code === "canceled") throw ours;
      return given({ local, leaseUnknown: ours.message });
    }
  });
}

/**
 * Takes a cluster away from the run that holds it. Only for a holder that is known to be dead: two living runs may take
 * two control planes down at once. A process that lives on this computer is refused; it can be stopped instead.
 */
export async function breakLock(options: ClusterAccess): Promise<void> {
  return withAccess(options, async ({ machines, signal }) => {
    const local = await localHolder(options);
    if (local?.alive) throw stillAlive(local);
    await machines.kubernetes.deleteLease(signal);
    for (const file of lockFilesOf(options)) await removeLock(file);
  });
}

/** A living process before a dead one. */
async function localHolder(options: ClusterAccess): Promise<LockHolder | undefined> {
  const found = await Promise.all(lockFilesOf(options).map(lockHolder));
  const holders = found.filter((holder) => holder !== undefined);
  return holders.find(({ alive }) => alive) ?? holders[0];
}

function stillAlive({ pid, since, elsewhere }: LockHolder): TalosError {
  const place = elsewhere === undefined ? "on this computer" : `on ${elsewhere}`;
  const dead = elsewhere === undefined ? "" : " If it has died, its lock is free a minute later.";
  return new TalosError("conflict", `process ${pid} ${place} works on this cluster, since ${since}`, {
    hint: `Stop it (kill ${pid}) and wait until it has ended: it stops at the next safe point and gives the lock back.${dead}`,
  });
}

/** Throws `already-exists` when another state has the cluster. */
export function checkOwner(options: ClusterAccess): Promise<void> {
  return withAccess(options, async (context) => refuseOtherOwner(context, await context.observe(), options.claim));
}

/** Gives a cluster up that goes on without its state: the next one may have it. */
export function releaseOwner(options: ClusterAccess & { readonly claim: Claim }): Promise<void> {
  return withAccess(options, async ({ machines, signal }) => {
    await machines.kubernetes.changeOwnership((known) => released(known, options.claim), signal);
  });
}
