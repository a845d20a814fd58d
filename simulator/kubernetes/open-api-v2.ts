// SPDX-License-Identifier: Apache-2.0
import { Buffer } from "node:buffer";
import type { Cluster } from "../machine/world.ts";
import { type ApiResource, apiResources } from "./api-resources.ts";

/** kubectl takes the document in this form only. */
export const openApiV2Type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/**
 * The OpenAPI document of the older version, in protobuf: which kinds there are, and no fields. kubectl asks for it to
 * validate a `List` of objects.
 */
export function openApiV2(cluster: Cluster | undefined): Buffer {
  const info = message(text(1, "Kubernetes"), text(2, "simulated"));
  const definitions = apiResources(cluster).map((resource) => field(1, definitionOf(resource)));
  return message(text(1, "2.0"), field(2, info), field(8, message()), field(9, message(...definitions)));
}

/** A named schema without type or properties: it allows everything. */
function definitionOf({ group, version, kind }: ApiResource): Buffer {
  const kinds = `- group: "${group}"\n  kind: ${kind}\n  version: ${version}\n`;
  const extension = message(text(1, "x-kubernetes-group-version-kind"), field(2, text(2, kinds)));
  return message(text(1, `${group === "" ? "core" : group}.${version}.${kind}`), field(2, field(31, extension)));
}

const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));

/** A length-delimited field. */
function field(number: number, value: Buffer): Buffer {
  return message(varint(number * 8 + 2), varint(value.length), value);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
