// SPDX-License-Identifier: Apache-2.0
import { type ClusterAccess, withAccess } from "../engine.ts";
import { type Claim, refuseOtherOwner, released } from "./ownership.ts";

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
