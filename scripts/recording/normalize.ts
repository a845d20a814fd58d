// SPDX-License-Identifier: Apache-2.0
import type { Answer } from "../../test/simulator/kubernetes-client.ts";

/** An answer without what differs between any two clusters: addresses, ids, times, revisions, tokens. */
export interface Recorded {
  readonly code: number;
  readonly contentType: string;
  readonly body: unknown;
}

/** Values under these names are of one cluster at one moment. */
const replaced: Readonly<Record<string, string>> = {
  uid: "<uid>",
  resourceVersion: "<revision>",
  creationTimestamp: "<time>",
  deletionTimestamp: "<time>",
  lastTransitionTime: "<time>",
  lastUpdateTime: "<time>",
  lastProbeTime: "<time>",
  lastHeartbeatTime: "<time>",
  firstTimestamp: "<time>",
  lastTimestamp: "<time>",
  expirationTimestamp: "<time>",
  startTime: "<time>",
  startedAt: "<time>",
  time: "<time>",
  token: "<token>",
  continue: "<continue>",
  storageVersionHash: "<hash>",
  buildDate: "<time>",
  gitVersion: "<version>",
  gitCommit: "<commit>",
  goVersion: "<version>",
  patch: "<version>",
  serverRelativeURL: "<path>",
  serverAddress: "<address>",
  clusterIP: "<address>",
  nodePort: "<port>",
  hostIP: "<address>",
  podIP: "<address>",
  nodeName: "<node>",
  containerID: "<id>",
  imageID: "<id>",
};

export function normalized({ code, headers }: Answer<unknown>, part: unknown): Recorded {
  return { code, contentType: headers["content-type"] ?? "", body: withoutChance(part) };
}

function withoutChance(value: unknown): unknown {
  if (typeof value === "string") return plain(value);
  if (Array.isArray(value)) return value.map(withoutChance);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => {
        const word = replaced[key];
        // An empty value is a fact, and the schema of a field is not its value.
        const known = word !== undefined && inner !== null && inner !== "" && typeof inner !== "object";
        return [key, known ? word : withoutChance(inner)];
      }),
  );
}

function plain(text: string): string {
  return text
    .replaceAll(/\b\d+\.\d+\.\d+\.\d+(:\d+)?\b/g, "<address>")
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uid>")
    .replaceAll(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access-<random>")
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>");
}

/** The places at which two recorded answers differ, as dotted paths; none: they are the same. */
export function differences(expected: unknown, found: unknown, path = ""): readonly string[] {
  if (JSON.stringify(expected) === JSON.stringify(found)) return [];
  const isList = Array.isArray(expected) && Array.isArray(found) && expected.length === found.length;
  const areObjects = isObject(expected) && isObject(found);
  if (!isList && !areObjects) return [path];
  const [left, right] = [expected, found] as Readonly<Record<string, unknown>>[];
  const keys = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  return [...keys]
    .sort()
    .flatMap((key) => differences(left?.[key], right?.[key], path === "" ? key : `${path}.${key}`));
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
