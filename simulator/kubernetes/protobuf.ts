// SPDX-License-Identifier: Apache-2.0
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type Kind, type Shape, shapes } from "./protobuf-shapes.ts";
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
