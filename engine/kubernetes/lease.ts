// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import type { Timing } from "../execute/timing.ts";
import { undefinedIf } from "../failures.ts";
import type { LeaseHolder, LeaseState } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";

const collection = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const name = "talosmith";
const path = `${collection}/${name}`;
const seconds = 60;
/** Who lives renews it three times a minute: no change for so long, in milliseconds, is nobody there. */
const silence = 45_000;
const lookEvery = 5_000;

const leaseSchema = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  spec: z.object({ holderIdentity: z.string().nullish(), renewTime: z.string().nullish() }).default({}),
});

interface Waiting {
  readonly signal?: AbortSignal | undefined;
  readonly watching?: ((message: string) => void) | undefined;
}

/**
 * Takes or renews the lease. Undefined when it is ours, else who has it. One that has run out by our clock, or that was
 * renewed in its future, is watched before it is taken: clocks of other computers may be wrong, or ours.
 */
export async function takeLease(
  api: KubernetesApi,
  holder: LeaseHolder,
  timing: Timing,
  { signal, watching }: Waiting = {},
): Promise<string | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const found = leaseSchema.parse(await api.call(path, { signal }));
      const other = otherHolder(found.spec, holder);
      const fresh = isFresh(found.spec.renewTime ?? "", timing.now());
      if (other !== undefined && (fresh || (await isRenewed(api, found, timing, { signal, watching })))) return other;
      const now = new Date(timing.now());
      // The version makes sure that nobody else took it between our look and our write.
      const body = leaseBody(holder, now, found.metadata.resourceVersion);
      await api.call(path, { signal, method: "PUT", body });
      return undefined;
    } catch (error) {
      if (!(error instanceof TalosError)) throw error;
      if (error.code === "conflict") continue;
      if (error.code !== "not-found") throw error;
    }
    try {
      const body = leaseBody(holder, new Date(timing.now()));
      await api.call(collection, { signal, method: "POST", body });
      return undefined;
    } catch (error) {
      if (!(error instanceof TalosError) || error.code !== "conflict") throw error;
    }
  }
  return "runs that were faster three times";
}

/** Looks for long enough to tell a run that lives from one that died. */
async function isRenewed(
  api: KubernetesApi,
  { metadata, spec }: z.infer<typeof leaseSchema>,
  timing: Timing,
  { signal, watching }: Waiting,
): Promise<boolean> {
  const end = timing.elapsed() + silence;
  const minutes = Math.round((timing.now() - Date.parse(spec.renewTime ?? "")) / 60_000);
  // By clocks that differ it may be a time to come, or none at all.
  const since = minutes >= 1 ? ` for ${minutes} min` : "";
  while (timing.elapsed() < end) {
    const left = Math.ceil((end - timing.elapsed()) / 1000);
    watching?.(
      `another run, ${spec.holderIdentity}, has not said${since} that it works on this cluster: it is watched for ${left} s more before this run goes on`,
    );
    await timing.sleep(lookEvery, signal);
    const now = leaseSchema.parse(await api.call(path, { signal }));
    if (now.metadata.resourceVersion !== metadata.resourceVersion) return Boolean(now.spec.holderIdentity);
  }
  return false;
}

/** Who has the lease; undefined when nobody does. */
export async function readLease(
  api: KubernetesApi,
  now: number,
  signal?: AbortSignal,
): Promise<LeaseState | undefined> {
  const found = await api.call(path, { signal }).catch(undefinedIf("not-found"));
  const spec = found === undefined ? undefined : leaseSchema.parse(found).spec;
  if (!spec?.holderIdentity) return undefined;
  const renewed = spec.renewTime ?? "";
  // What is ahead of our clock has not run out by it, whether or not somebody is there.
  return { holder: spec.holderIdentity, renewed, expired: !(now - Date.parse(renewed) < seconds * 1000) };
}

/** Takes the lease away from whoever has it. */
export async function deleteLease(api: KubernetesApi, signal?: AbortSignal): Promise<void> {
  await api.call(path, { method: "DELETE", signal }).catch(undefinedIf("not-found"));
}

/** Gives the lease back that a run at the holder's place has: by the lock there, no other one is alive. */
export async function releaseLease(api: KubernetesApi, holder: LeaseHolder): Promise<void> {
  const { metadata, spec } = leaseSchema.parse(await api.call(path));
  if (!spec.holderIdentity || otherHolder(spec, holder) !== undefined) return;
  const { resourceVersion } = metadata;
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { resourceVersion } };
  await api.call(path, { method: "DELETE", body });
}

function otherHolder({ holderIdentity }: z.infer<typeof leaseSchema>["spec"], holder: LeaseHolder): string | undefined {
  return !holderIdentity || holderIdentity.startsWith(`${holder.place}/`) ? undefined : holderIdentity;
}

/** Renewed a moment ago by our clock; a moment ahead of it, too. */
function isFresh(renewed: string, now: number): boolean {
  return Math.abs(now - Date.parse(renewed)) < seconds * 1000;
}

function leaseBody(holder: LeaseHolder, now: Date, resourceVersion?: string) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-system", ...given({ resourceVersion }) },
    spec: { holderIdentity: identityOf(holder), leaseDurationSeconds: seconds, renewTime: microTime(now) },
  };
}

function identityOf({ place, run }: LeaseHolder): string {
  return `${place}/${run}`;
}

/** Kubernetes wants microseconds. */
function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}
