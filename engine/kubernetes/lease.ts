// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { Timing } from "../execute/timing.ts";
import { undefinedIf } from "../failures.ts";
import type { LeaseHolder, LeaseState } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";
import { kubernetesLease, type Lease, type LeaseRecord } from "./lease-record.ts";

const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/talosmith";
const leaseOf = (api: KubernetesApi) => kubernetesLease(api, "kube-system", "talosmith");
const seconds = 60;
/** Who lives renews it three times a minute: no change for so long, in milliseconds, is nobody there. */
const silence = 45_000;
const lookEvery = 5_000;

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
  const lease = leaseOf(api);
  for (let attempt = 0; attempt < 3; attempt++) {
    const found = await lease.read(signal);
    const other = found && otherHolder(found, holder);
    if (found !== undefined && other !== undefined) {
      const fresh = isFresh(found.renewed, timing.now());
      if (fresh || (await isRenewed(lease, found, timing, { signal, watching }))) return other;
    }
    try {
      const term = { holder: `${holder.place}/${holder.run}`, seconds, now: new Date(timing.now()) };
      // The version makes sure that nobody else took it between our look and our write.
      await lease.write(term, found, signal);
      return undefined;
    } catch (error) {
      const { code } = TalosError.from(error);
      if (code !== "conflict" && (code !== "not-found" || found === undefined)) throw error;
    }
  }
  return "runs that were faster three times";
}

/** Looks for long enough to tell a run that lives from one that died. */
async function isRenewed(
  lease: Lease,
  { holder, version, renewed }: LeaseRecord,
  timing: Timing,
  { signal, watching }: Waiting,
): Promise<boolean> {
  const end = timing.elapsed() + silence;
  const minutes = Math.round((timing.now() - Date.parse(renewed)) / 60_000);
  // By clocks that differ it may be a time to come, or none at all.
  const since = minutes >= 1 ? ` for ${minutes} min` : "";
  while (timing.elapsed() < end) {
    const left = Math.ceil((end - timing.elapsed()) / 1000);
    watching?.(
      `another run, ${holder}, has not said${since} that it works on this cluster: it is watched for ${left} s more before this run goes on`,
    );
    await timing.sleep(lookEvery, signal);
    const now = await lease.read(signal);
    if (now?.version !== version) return Boolean(now?.holder);
  }
  return false;
}

/** Who has the lease; undefined when nobody does. */
export async function readLease(
  api: KubernetesApi,
  now: number,
  signal?: AbortSignal,
): Promise<LeaseState | undefined> {
  const { holder = "", renewed = "" } = (await leaseOf(api).read(signal)) ?? {};
  if (holder === "") return undefined;
  // What is ahead of our clock has not run out by it, whether or not somebody is there.
  return { holder, renewed, expired: !(now - Date.parse(renewed) < seconds * 1000) };
}

/** Takes the lease away from whoever has it. */
export async function deleteLease(api: KubernetesApi, signal?: AbortSignal): Promise<void> {
  await api.call(path, { method: "DELETE", signal }).catch(undefinedIf("not-found"));
}

/** Gives the lease back that a run at the holder's place has: by the lock there, no other one is alive. */
export async function releaseLease(api: KubernetesApi, holder: LeaseHolder): Promise<void> {
  const found = await leaseOf(api).read();
  if (!found?.holder || otherHolder(found, holder) !== undefined) return;
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { resourceVersion: found.version } };
  await api.call(path, { method: "DELETE", body });
}

function otherHolder({ holder }: LeaseRecord, { place }: LeaseHolder): string | undefined {
  return holder === "" || holder.startsWith(`${place}/`) ? undefined : holder;
}

/** Renewed a moment ago by our clock; a moment ahead of it, too. */
function isFresh(renewed: string, now: number): boolean {
  return Math.abs(now - Date.parse(renewed)) < seconds * 1000;
}
