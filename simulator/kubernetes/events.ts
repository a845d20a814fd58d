// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { randomHex } from "../machine/chance.ts";
import type { Moment } from "../machine/timings.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { createObject, deleteObject, listObjects, timestamp } from "./store.ts";

export interface Happening {
  readonly about: KubernetesObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Who tells it: kubelet, node-controller … */
  readonly source: string;
}

/** Real clusters keep events for an hour; this one keeps the last. */
const kept = 200;

/** The cluster with one more event for `kubectl get events`. */
export function recordEvent(cluster: Cluster, happening: Happening, moment: Moment): Cluster {
  const { about, type, reason, message, source } = happening;
  const at = timestamp(moment.now);
  const { name, uid, namespace } = about.metadata;
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${randomHex(moment.entropy, 8)}`, namespace: namespace ?? "default" },
    involvedObject: given({ apiVersion: about.apiVersion, kind: about.kind, name, uid, namespace }),
    type,
    reason,
    message,
    source: { component: source },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
  const next = createObject(cluster, "events", event, moment);
  const all = listObjects(next, "events").sort(
    (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
  );
  return all
    .slice(0, Math.max(0, all.length - kept))
    .reduce((state, old) => deleteObject(state, "events", old.metadata.namespace, old.metadata.name), next);
}
