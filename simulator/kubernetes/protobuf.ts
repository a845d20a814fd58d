// SPDX-License-Identifier: Apache-2.0
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { ApiError } from "./status.ts";

/** Field numbers by name, with what each holds. Only what clients are known to send in this form. */
type Shape = Readonly<Record<number, readonly [name: string, kind: Kind]>>;
type Kind = "string" | "number" | "strings" | "string-map" | "time" | { readonly message: Shape };

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

const kinds: Readonly<Record<string, Shape>> = {
  ConfigMap: { 1: ["metadata", { message: metadata }], 2: ["data", "string-map"] },
  Namespace: { 1: ["metadata", { message: metadata }] },
  Lease: {
    1: ["metadata", { message: metadata }],
    2: [
      "spec",
      {
        message: {
          1: ["holderIdentity", "string"],
          2: ["leaseDurationSeconds", "number"],
          3: ["acquireTime", "time"],
          4: ["renewTime", "time"],
          5: ["leaseTransitions", "number"],
        },
      },
    ],
  },
};

const magic = Buffer.from("k8s\0");

/** Kubernetes' own protobuf form of an object, which typed clients prefer, as the plain object. */
export function decodeKubernetesProtobuf(bytes: Buffer): Readonly<Record<string, unknown>> {
  if (!bytes.subarray(0, 4).equals(magic)) throw new ApiError(400, "BadRequest", "the body does not start with k8s\\0");
  const typeMeta: Shape = { 1: ["apiVersion", "string"], 2: ["kind", "string"] };
  const envelope = fields(bytes.subarray(4));
  const type = decode(typeMeta, envelope.get(1)?.[0] ?? new Uint8Array());
  const shape = kinds[String(type.kind)];
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
  if (typeof kind === "object") return decode(kind.message, first);
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
  switch (kind) {
    case "string":
      return text(first);
    case "number":
      return Number(Buffer.from(first).readBigInt64BE());
    case "strings":
      return values.map(text);
    case "time": {
      const seconds = fields(first).get(1)?.[0];
      return seconds === undefined
        ? undefined
        : new Date(Number(Buffer.from(seconds).readBigInt64BE()) * 1_000).toISOString();
    }
    case "string-map":
      return Object.fromEntries(
        values.map((entry) => {
          const parts = fields(entry);
          return [text(parts.get(1)?.[0] ?? new Uint8Array()), text(parts.get(2)?.[0] ?? new Uint8Array())];
        }),
      );
  }
}
