// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../errors.ts";
import type { LeaseHolder, LeaseState } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";

const collection = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const name = "talosmith";
const seconds = 60;

const leaseSchema = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  spec: z.object({ holderIdentity: z.string().nullish(), renewTime: z.string().nullish() }).default({}),
});

/** Takes or renews the lease. Undefined when it is ours, else who has it. */
export async function takeLease(
  api: KubernetesApi,
  holder: LeaseHolder,
  now: Date,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const options = signal === undefined ? {} : { signal };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const found = leaseSchema.parse(await api.call(`${collection}/${name}`, options));
      const other = otherHolder(found.spec, holder, now);
      if (other !== undefined) return other;
      // The version makes sure that nobody else took it between our look and our write.
      const body = leaseBody(holder, now, found.metadata.resourceVersion);
      await api.call(`${collection}/${name}`, { ...options, method: "PUT", body });
      return undefined;
    } catch (error) {
      if (!(error instanceof TalosError)) throw error;
      if (error.code === "conflict") continue;
      if (error.code !== "not-found") throw error;
    }
    try {
      await api.call(collection, { ...options, method: "POST", body: leaseBody(holder, now) });
      return undefined;
    } catch (error) {
      if (!(error instanceof TalosError) || error.code !== "conflict") throw error;
    }
  }
  return "runs that were faster three times";
}

/** Who has the lease; undefined when nobody does. */
export async function readLease(api: KubernetesApi, now: Date, signal?: AbortSignal): Promise<LeaseState | undefined> {
  try {
    const { spec } = leaseSchema.parse(await api.call(`${collection}/${name}`, signal === undefined ? {} : { signal }));
    if (!spec.holderIdentity) return undefined;
    const renewed = spec.renewTime ?? "";
    return { holder: spec.holderIdentity, renewed, expired: !isFresh(renewed, now) };
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return undefined;
    throw error;
  }
}

/** Takes the lease away from whoever has it. */
export async function deleteLease(api: KubernetesApi, signal?: AbortSignal): Promise<void> {
  try {
    await api.call(`${collection}/${name}`, { method: "DELETE", ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (!(error instanceof TalosError) || error.code !== "not-found") throw error;
  }
}

/** Gives the lease back, if it is still ours. */
export async function releaseLease(api: KubernetesApi, holder: LeaseHolder): Promise<void> {
  const found = leaseSchema.parse(await api.call(`${collection}/${name}`));
  if (found.spec.holderIdentity === identityOf(holder)) await api.call(`${collection}/${name}`, { method: "DELETE" });
}

function otherHolder(spec: z.infer<typeof leaseSchema>["spec"], holder: LeaseHolder, now: Date): string | undefined {
  const { holderIdentity, renewTime } = spec;
  if (!holderIdentity || holderIdentity.startsWith(`${holder.place}/`)) return undefined;
  return isFresh(renewTime ?? "", now) ? holderIdentity : undefined;
}

function isFresh(renewed: string, now: Date): boolean {
  return now.getTime() - Date.parse(renewed) < seconds * 1000;
}

function leaseBody(holder: LeaseHolder, now: Date, resourceVersion?: string) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-system", ...(resourceVersion === undefined ? {} : { resourceVersion }) },
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
