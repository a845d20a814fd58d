// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { given } from "../../talos/given.ts";
import { undefinedIf } from "../failures.ts";
import type { KubernetesApi } from "./api.ts";

/** Who holds a Lease. */
export interface LeaseRecord {
  /** Empty: nobody. */
  readonly holder: string;
  /** Changes with every write. */
  readonly version: string;
  readonly transitions: number;
  readonly acquired: string;
  readonly renewed: string;
}

interface LeaseTerm {
  readonly holder: string;
  readonly seconds: number;
  readonly now: Date;
}

/** A Lease of a cluster. */
export interface Lease {
  /** Undefined when there is none. */
  read(signal?: AbortSignal): Promise<LeaseRecord | undefined>;
  /** Writes over `known`, or makes one; fails with `conflict` when somebody else has written meanwhile. */
  write(term: LeaseTerm, known: LeaseRecord | undefined, signal?: AbortSignal): Promise<void>;
}

const schema = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  spec: z
    .object({
      holderIdentity: z.string().nullish(),
      leaseTransitions: z.number().nullish(),
      acquireTime: z.string().nullish(),
      renewTime: z.string().nullish(),
    })
    .nullish(),
});

export function kubernetesLease(api: KubernetesApi, namespace: string, name: string): Lease {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  return {
    async read(signal) {
      const found = await api.call(`${collection}/${name}`, { signal }).catch(undefinedIf("not-found"));
      if (found === undefined) return undefined;
      const { metadata, spec } = schema.parse(found);
      return {
        holder: spec?.holderIdentity ?? "",
        version: metadata.resourceVersion,
        transitions: spec?.leaseTransitions ?? 0,
        acquired: spec?.acquireTime ?? "",
        renewed: spec?.renewTime ?? "",
      };
    },
    async write({ holder, seconds, now }, known, signal) {
      const changes = known?.holder !== holder;
      const spec = {
        holderIdentity: holder,
        leaseDurationSeconds: seconds,
        acquireTime: changes || !known?.acquired ? microTime(now) : known.acquired,
        renewTime: microTime(now),
        leaseTransitions: (known?.transitions ?? 0) + (changes && holder !== "" ? 1 : 0),
      };
      const metadata = given({ name, namespace, resourceVersion: known?.version });
      const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
      if (known === undefined) await api.call(collection, { method: "POST", body, signal });
      else await api.call(`${collection}/${name}`, { method: "PUT", body, signal });
    },
  };
}

/** Kubernetes wants microseconds. */
function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}
