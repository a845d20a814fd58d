// SPDX-License-Identifier: Apache-2.0
import { gunzipSync } from "node:zlib";
import { TalosError } from "../errors.ts";

const blockSize = 512;
const largestKubeconfig = 4 * 1024 * 1024;

/** Reads the one file `kubeconfig` from the gzipped tar that a machine sends, which may lack the usual end blocks. */
export function readKubeconfigArchive(archive: Uint8Array, node: string): string {
  const bad = (why: string, cause?: unknown) =>
    new TalosError("internal", `${node}: the kubeconfig archive ${why}`, { node, cause });
  let tar: Buffer;
  try {
    tar = gunzipSync(archive, { maxOutputLength: largestKubeconfig });
  } catch (cause) {
    throw bad("is not gzip", cause);
  }
  for (let offset = 0; offset + blockSize <= tar.length; ) {
    const header = tar.subarray(offset, offset + blockSize);
    if (header.every((byte) => byte === 0)) break;
    const name = textOf(header.subarray(0, 100));
    const size = Number.parseInt(textOf(header.subarray(124, 136)), 8);
    if (!Number.isInteger(size) || size < 0) throw bad("is damaged");
    const start = offset + blockSize;
    if (name === "kubeconfig") {
      if (start + size > tar.length) throw bad("is cut off");
      return tar.toString("utf8", start, start + size);
    }
    offset = start + Math.ceil(size / blockSize) * blockSize;
  }
  throw bad("has no file kubeconfig");
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("latin1", 0, end < 0 ? field.length : end).trim();
}
