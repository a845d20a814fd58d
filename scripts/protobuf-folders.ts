// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

export interface ProtobufFolder {
  readonly source: string;
  readonly generated: string;
  /** ts-proto's outputServices. */
  readonly services: "grpc-js" | "generic-definitions";
  /** ts-proto's outputPartialMethods: `create` and `fromPartial` of every message, which the start of a program pays for. */
  readonly partialMethods: boolean;
}

/** Every folder of .proto files and where its generated code is, relative to the project's root. */
export const protobufFolders: readonly ProtobufFolder[] = [
  { source: "talos/api/proto", generated: "talos/api/gen", services: "grpc-js", partialMethods: true },
  {
    source: "provider/protocol/proto",
    generated: "provider/protocol/gen",
    services: "generic-definitions",
    partialMethods: false,
  },
];

/** One hash over all .proto files of a folder, names and contents; written beside the generated code. */
export function sourceHash(directory: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".proto"))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(directory, file)))
      .update("\0");
  return hash.digest("hex");
}
