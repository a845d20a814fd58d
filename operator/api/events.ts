// SPDX-License-Identifier: Apache-2.0
import type { KubernetesApi } from "../../engine/index.ts";
import { apiVersion, type KindName, type Metadata } from "../kinds/common.ts";
import { fieldManager } from "./objects.ts";

/** Says in the Kubernetes API what has happened to an object. It never fails: an Event is for looking only. */
export interface EventRecorder {
  normal(kind: KindName, of: Metadata, reason: string, message: string): void;
  warning(kind: KindName, of: Metadata, reason: string, message: string): void;
  /** Resolves when all that was said is written. */
  settled(): Promise<void>;
}

interface RecorderOptions {
  readonly api: KubernetesApi;
  readonly now: () => Date;
  /** A warning that lasts is repeated after so long. */
  readonly repeatAfter?: number;
}

const longestMessage = 1_000;

export function eventRecorder({ api, now, repeatAfter = 10 * 60_000 }: RecorderOptions): EventRecorder {
  const last = new Map<string, number>();
  let written: Promise<unknown> = Promise.resolve();
  const record = (type: "Normal" | "Warning", kind: KindName, of: Metadata, reason: string, message: string) => {
    const at = now();
    const key = `${of.uid} ${reason} ${message}`;
    const before = last.get(key);
    if (type === "Warning" && before !== undefined && at.getTime() - before < repeatAfter) return;
    for (const [known, time] of last) if (at.getTime() - time > repeatAfter) last.delete(known);
    last.set(key, at.getTime());
    const { name, namespace, uid, resourceVersion } = of;
    const time = `${at.toISOString().slice(0, 19)}Z`;
    const body = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
      reason,
      message: message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
      type,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: fieldManager },
      reportingComponent: fieldManager,
    };
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    written = written.then(() => api.call(path, { method: "POST", body })).catch(() => undefined);
  };
  return {
    normal: (...told) => record("Normal", ...told),
    warning: (...told) => record("Warning", ...told),
    settled: () => written.then(() => undefined),
  };
}
