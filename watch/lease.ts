// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import type { KubernetesApi } from "../engine/index.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";

/** Who leads, as the Lease has it. */
export interface LeaseRecord {
  /** Empty: nobody. */
  readonly holder: string;
  /** Changes with every write. */
  readonly version: string;
  readonly transitions: number;
  readonly acquired: string;
}

interface LeaseTerm {
  readonly holder: string;
  readonly seconds: number;
  readonly now: Date;
}

/** A Lease of the cluster that the operators run in. */
export interface Lease {
  /** Undefined when there is none. */
  read(signal: AbortSignal): Promise<LeaseRecord | undefined>;
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
    })
    .nullish(),
});

export function kubernetesLease(api: KubernetesApi, namespace: string, name: string): Lease {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  return {
    async read(signal) {
      try {
        const { metadata, spec } = schema.parse(await api.call(`${collection}/${name}`, { signal }));
        return {
          holder: spec?.holderIdentity ?? "",
          version: metadata.resourceVersion,
          transitions: spec?.leaseTransitions ?? 0,
          acquired: spec?.acquireTime ?? "",
        };
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
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
      const how = { body, ...given({ signal }) };
      if (known === undefined) await api.call(collection, { method: "POST", ...how });
      else await api.call(`${collection}/${name}`, { method: "PUT", ...how });
    },
  };
}

/** Kubernetes wants microseconds. */
function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}
