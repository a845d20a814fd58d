// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { createIso } from "./iso.ts";
import type { NoCloudFiles } from "./nocloud.ts";

/** The label by which Talos finds the volume. */
export const noCloudLabel = "cidata";

/** The NoCloud seed as an ISO image. The same files always give the same bytes. */
export function createNoCloudIso(files: NoCloudFiles): Uint8Array {
  const encoder = new TextEncoder();
  return createIso(
    noCloudLabel,
    Object.entries(files).map(([name, text]) => ({ name, content: encoder.encode(text as string) })),
  );
}

/** Lower-case hex SHA-256 of the image. */
export function hashIso(image: Uint8Array): string {
  return createHash("sha256").update(image).digest("hex");
}
