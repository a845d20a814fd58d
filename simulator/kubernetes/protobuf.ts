// SPDX-License-Identifier: Apache-2.0

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Tree } from "../machine/world.ts";
import { ApiError } from "./status.ts";

const magic = Buffer.from("k8s\0");
const empty = new Uint8Array();

/** Kubernetes' own protobuf form of an object, which typed clients prefer, as the plain object. */
export function decodeKubernetesProtobuf(bytes: Buffer): Tree {
  if (!bytes.subarray(0, 4).equals(magic)) throw new ApiError("BadRequest", "the body does not start with k8s\\0");
  const typeMeta: Shape = { string: { apiVersion: 1, kind: 2 } };
  const envelope = fields(bytes.subarray(4));
  const type = decode(typeMeta, envelope.get(1)?.[0] ?? empty);
  const shape = shapes[String(type.kind)];
  if (shape === undefined) {
    throw new ApiError("UnsupportedMediaType", `the simulated API server takes ${String(type.kind)} as JSON only`);
  }
  return { ...type, ...decode(shape, envelope.get(2)?.[0] ?? empty) };
}

/** Length-delimited fields by number; varints come as their eight bytes. */
function fields(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const found = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) found.set(number, [...(found.get(number) ?? []), reader.bytes()]);
    else if (type === WireType.Varint) found.set(number, [numberBytes(reader.int64())]);
    else reader.skip(type);
  }
  return found;
}

function numberBytes(value: bigint | string): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

function numberOf(bytes: Uint8Array | undefined): number | undefined {
  return bytes === undefined ? undefined : Number(Buffer.from(bytes).readBigInt64BE());
}

function decode({ message = {}, messages = {}, ...plain }: Shape, bytes: Uint8Array): Record<string, unknown> {
  const held = fields(bytes);
  const result: Record<string, unknown> = {};
  const read = (name: string, field: number, decoded: (values: readonly Uint8Array[]) => unknown): void => {
    const values = held.get(field);
    const value = values === undefined ? undefined : decoded(values);
    if (value !== undefined && value !== "") result[name] = value;
  };
  for (const [kind, numbers] of Object.entries(plain) as [Plain, Numbers][]) {
    for (const [name, field] of Object.entries(numbers)) read(name, field, (values) => decodePlain(kind, values));
  }
  for (const [name, [field, shape]] of Object.entries(message)) {
    read(name, field, ([value = empty]) => decode(shape, value));
  }
  for (const [name, [field, shape]] of Object.entries(messages)) {
    read(name, field, (values) => values.map((value) => decode(shape, value)));
  }
  return result;
}

function decodePlain(kind: Plain, values: readonly Uint8Array[]): unknown {
  const [first = empty] = values;
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
  switch (kind) {
    case "string":
      return text(first);
    case "number":
      return numberOf(first);
    case "strings":
      return values.map(text);
    case "number-or-string": {
      const [type, value, words = empty] = [1, 2, 3].map((field) => fields(first).get(field)?.[0]);
      return numberOf(type) === 1 ? text(words) : (numberOf(value) ?? 0);
    }
    case "time": {
      const seconds = numberOf(fields(first).get(1)?.[0]);
      return seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString();
    }
    case "string-map":
    case "bytes-map":
      return Object.fromEntries(
        values.map((entry) => {
          const parts = fields(entry);
          const [key = empty, value = empty] = [parts.get(1)?.[0], parts.get(2)?.[0]];
          // Bytes are base64 in the plain form.
          return [text(key), kind === "bytes-map" ? Buffer.from(value).toString("base64") : text(value)];
        }),
      );
  }
}

type Numbers = Readonly<Record<string, number>>;
type Plain = "string" | "number" | "strings" | "string-map" | "bytes-map" | "time" | "number-or-string";

/** The fields of a message that are read: by what they hold, their names with their numbers. */
type Shape = { readonly [K in Plain]?: Numbers } & {
  readonly [K in "message" | "messages"]?: Readonly<Record<string, readonly [field: number, shape: Shape]>>;
};

const metadata: Shape = {
  string: { name: 1, generateName: 2, namespace: 3, uid: 5, resourceVersion: 6 },
  "string-map": { labels: 11, annotations: 12 },
  strings: { finalizers: 14 },
};
const container: Shape = {
  string: { name: 1, image: 2, workingDir: 5 },
  strings: { command: 3, args: 4 },
  messages: {
    ports: [6, { string: { name: 1, protocol: 4 }, number: { hostPort: 2, containerPort: 3 } }],
    env: [7, { string: { name: 1, value: 2 } }],
  },
};
const withSpec = (spec: Shape): Shape => ({ message: { metadata: [1, metadata], spec: [2, spec] } });
const podTemplate = withSpec({
  messages: { containers: [2, container], initContainers: [20, container] },
  string: { restartPolicy: 3, serviceAccountName: 8, nodeName: 10 },
});
const servicePort: Shape = {
  string: { name: 1, protocol: 2 },
  number: { port: 3, nodePort: 5 },
  "number-or-string": { targetPort: 4 },
};
const metadataOnly: Shape = { message: { metadata: [1, metadata] } };
const role: Shape = {
  message: { metadata: [1, metadata] },
  messages: { rules: [2, { strings: { verbs: 1, apiGroups: 2, resources: 3, resourceNames: 4, nonResourceURLs: 5 } }] },
};
const binding: Shape = {
  message: { metadata: [1, metadata], roleRef: [3, { string: { apiGroup: 1, kind: 2, name: 3 } }] },
  messages: { subjects: [2, { string: { kind: 1, apiGroup: 2, name: 3, namespace: 4 } }] },
};

/** What typed clients send in this form: kubectl create, helm's releases, talosctl's locks. */
const shapes: Readonly<Record<string, Shape>> = {
  ConfigMap: { message: { metadata: [1, metadata] }, "string-map": { data: 2 } },
  Namespace: metadataOnly,
  ServiceAccount: metadataOnly,
  Secret: {
    message: { metadata: [1, metadata] },
    "bytes-map": { data: 2 },
    string: { type: 3 },
    "string-map": { stringData: 4 },
  },
  Role: role,
  ClusterRole: role,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  Service: withSpec({
    messages: { ports: [1, servicePort] },
    "string-map": { selector: 2 },
    string: { clusterIP: 3, type: 4, externalName: 10 },
  }),
  Deployment: withSpec({
    number: { replicas: 1 },
    message: { selector: [2, { "string-map": { matchLabels: 1 } }], template: [3, podTemplate] },
  }),
  Job: withSpec({ number: { parallelism: 1, completions: 2 }, message: { template: [6, podTemplate] } }),
  Lease: withSpec({
    string: { holderIdentity: 1 },
    number: { leaseDurationSeconds: 2, leaseTransitions: 5 },
    time: { acquireTime: 3, renewTime: 4 },
  }),
  DeleteOptions: {
    number: { gracePeriodSeconds: 1 },
    message: { preconditions: [2, { string: { uid: 1, resourceVersion: 2 } }] },
    string: { propagationPolicy: 4 },
  },
};
