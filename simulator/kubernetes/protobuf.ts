// SPDX-License-Identifier: Apache-2.0
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { ApiError } from "./status.ts";

const magic = Buffer.from("k8s\0");

/** Kubernetes' own protobuf form of an object, which typed clients prefer, as the plain object. */
export function decodeKubernetesProtobuf(bytes: Buffer): Readonly<Record<string, unknown>> {
  if (!bytes.subarray(0, 4).equals(magic)) throw new ApiError(400, "BadRequest", "the body does not start with k8s\\0");
  const typeMeta: Shape = { 1: ["apiVersion", "string"], 2: ["kind", "string"] };
  const envelope = fields(bytes.subarray(4));
  const type = decode(typeMeta, envelope.get(1)?.[0] ?? new Uint8Array());
  const shape = shapes[String(type.kind)];
  if (shape === undefined) {
    throw new ApiError(415, "UnsupportedMediaType", `the simulated API server takes ${String(type.kind)} as JSON only`);
  }
  return { ...type, ...decode(shape, envelope.get(2)?.[0] ?? new Uint8Array()) };
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

function decode(shape: Shape, bytes: Uint8Array): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [number, values] of fields(bytes)) {
    const field = shape[number];
    if (field === undefined) continue;
    const [name, kind] = field;
    const value = decodeField(kind, values);
    if (value !== undefined && value !== "") result[name] = value;
  }
  return result;
}

function decodeField(kind: Kind, values: readonly Uint8Array[]): unknown {
  const [first = new Uint8Array()] = values;
  if (typeof kind === "object") {
    return "message" in kind ? decode(kind.message, first) : values.map((value) => decode(kind.messages, value));
  }
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
  switch (kind) {
    case "string":
      return text(first);
    case "number":
      return Number(Buffer.from(first).readBigInt64BE());
    case "strings":
      return values.map(text);
    case "number-or-string": {
      const parts = fields(first);
      const number = parts.get(2)?.[0];
      const isText = Number(Buffer.from(parts.get(1)?.[0] ?? Buffer.alloc(8)).readBigInt64BE()) === 1;
      if (isText) return text(parts.get(3)?.[0] ?? new Uint8Array());
      return number === undefined ? 0 : Number(Buffer.from(number).readBigInt64BE());
    }
    case "time": {
      const seconds = fields(first).get(1)?.[0];
      return seconds === undefined
        ? undefined
        : new Date(Number(Buffer.from(seconds).readBigInt64BE()) * 1_000).toISOString();
    }
    case "string-map":
    case "bytes-map":
      return Object.fromEntries(
        values.map((entry) => {
          const parts = fields(entry);
          const [key = new Uint8Array(), value = new Uint8Array()] = [parts.get(1)?.[0], parts.get(2)?.[0]];
          // Bytes are base64 in the plain form.
          return [text(key), kind === "bytes-map" ? Buffer.from(value).toString("base64") : text(value)];
        }),
      );
  }
}

/** Field numbers by name, with what each holds. */
export type Shape = Readonly<Record<number, readonly [name: string, kind: Kind]>>;
export type Kind =
  | "string"
  | "number"
  | "strings"
  | "string-map"
  | "bytes-map"
  | "time"
  | "number-or-string"
  | { readonly message: Shape }
  | { readonly messages: Shape };

const metadata: Shape = {
  1: ["name", "string"],
  2: ["generateName", "string"],
  3: ["namespace", "string"],
  5: ["uid", "string"],
  6: ["resourceVersion", "string"],
  11: ["labels", "string-map"],
  12: ["annotations", "string-map"],
  14: ["finalizers", "strings"],
};

const labelSelector: Shape = { 1: ["matchLabels", "string-map"] };

const container: Shape = {
  1: ["name", "string"],
  2: ["image", "string"],
  3: ["command", "strings"],
  4: ["args", "strings"],
  5: ["workingDir", "string"],
  6: [
    "ports",
    {
      messages: {
        1: ["name", "string"],
        2: ["hostPort", "number"],
        3: ["containerPort", "number"],
        4: ["protocol", "string"],
      },
    },
  ],
  7: ["env", { messages: { 1: ["name", "string"], 2: ["value", "string"] } }],
};

const podTemplate: Shape = {
  1: ["metadata", { message: metadata }],
  2: [
    "spec",
    {
      message: {
        2: ["containers", { messages: container }],
        3: ["restartPolicy", "string"],
        8: ["serviceAccountName", "string"],
        10: ["nodeName", "string"],
        20: ["initContainers", { messages: container }],
      },
    },
  ],
};

const servicePort: Shape = {
  1: ["name", "string"],
  2: ["protocol", "string"],
  3: ["port", "number"],
  4: ["targetPort", "number-or-string"],
  5: ["nodePort", "number"],
};

const rules: Shape = {
  1: ["verbs", "strings"],
  2: ["apiGroups", "strings"],
  3: ["resources", "strings"],
  4: ["resourceNames", "strings"],
  5: ["nonResourceURLs", "strings"],
};

const role: Shape = { 1: ["metadata", { message: metadata }], 2: ["rules", { messages: rules }] };

const binding: Shape = {
  1: ["metadata", { message: metadata }],
  2: [
    "subjects",
    {
      messages: { 1: ["kind", "string"], 2: ["apiGroup", "string"], 3: ["name", "string"], 4: ["namespace", "string"] },
    },
  ],
  3: ["roleRef", { message: { 1: ["apiGroup", "string"], 2: ["kind", "string"], 3: ["name", "string"] } }],
};

function withSpec(spec: Shape): Shape {
  return { 1: ["metadata", { message: metadata }], 2: ["spec", { message: spec }] };
}

/** What typed clients send in this form: kubectl create, helm's releases, talosctl's locks. */
export const shapes: Readonly<Record<string, Shape>> = {
  ConfigMap: { 1: ["metadata", { message: metadata }], 2: ["data", "string-map"] },
  Namespace: { 1: ["metadata", { message: metadata }] },
  ServiceAccount: { 1: ["metadata", { message: metadata }] },
  Secret: {
    1: ["metadata", { message: metadata }],
    2: ["data", "bytes-map"],
    3: ["type", "string"],
    4: ["stringData", "string-map"],
  },
  Role: role,
  ClusterRole: role,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  Service: withSpec({
    1: ["ports", { messages: servicePort }],
    2: ["selector", "string-map"],
    3: ["clusterIP", "string"],
    4: ["type", "string"],
    10: ["externalName", "string"],
  }),
  Deployment: withSpec({
    1: ["replicas", "number"],
    2: ["selector", { message: labelSelector }],
    3: ["template", { message: podTemplate }],
  }),
  Job: withSpec({
    1: ["parallelism", "number"],
    2: ["completions", "number"],
    6: ["template", { message: podTemplate }],
  }),
  Lease: withSpec({
    1: ["holderIdentity", "string"],
    2: ["leaseDurationSeconds", "number"],
    3: ["acquireTime", "time"],
    4: ["renewTime", "time"],
    5: ["leaseTransitions", "number"],
  }),
  DeleteOptions: {
    1: ["gracePeriodSeconds", "number"],
    2: ["preconditions", { message: { 1: ["uid", "string"], 2: ["resourceVersion", "string"] } }],
    4: ["propagationPolicy", "string"],
  },
};
