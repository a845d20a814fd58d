// SPDX-License-Identifier: Apache-2.0

import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import type { SnapshotStatus } from "./snapshot-status.ts";

/** What is known of one backup, as it lies beside the snapshot. No secrets. */
export interface Backup extends SnapshotStatus {
  /** Its name, such as `lab-20261116T120000Z-3f9a`. */
  readonly id: string;
  readonly cluster: string;
  readonly takenAt: Date;
  /** The control plane that it came from. */
  readonly endpoint: string;
  /** Public name of the Talos CA, so that a backup of another cluster of the same name is told apart. */
  readonly caFingerprint: string;
  /** Whether the secrets bundle lies beside it, encrypted. */
  readonly pki: boolean;
}

const manifestSchema = z.object({
  v: z.literal(1),
  cluster: z.string(),
  takenAt: z.iso.datetime(),
  endpoint: z.string(),
  caFingerprint: z.string(),
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  revision: z.int().nonnegative(),
  hash: z.string().regex(/^[0-9a-f]{8}$/),
  entries: z.int().nonnegative(),
  pki: z.boolean(),
});

/** The files of a backup. The manifest is written last and removed first: without it there is no backup. */
export const parts = { snapshot: ".db", pki: ".secrets.age", manifest: ".json" } as const;

/** `suffix`: four hexadecimal digits, because two may be taken in one second. */
export function backupId(cluster: string, takenAt: Date, suffix: string): string {
  return `${cluster}-${takenAt.toISOString().replaceAll(/[-:]|\.\d+/g, "")}-${suffix}`;
}

const fileName = /^([^/]+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{4}(\.db|\.json|\.secrets\.age)$/;

/** Whether a file has the name of one of ours, of any cluster. */
export function isFileOfBackup(name: string): boolean {
  return fileName.test(name);
}

/** A file of a backup of this cluster, taken apart; undefined for what belongs to somebody else. */
export function parseFileName(
  name: string,
  cluster: string,
): { readonly id: string; readonly part: keyof typeof parts; readonly takenAt: Date } | undefined {
  const match = fileName.exec(name);
  if (match?.[1] !== cluster) return undefined;
  const [, , year, month, day, hour, minute, second, ending] = match;
  const part = (Object.keys(parts) as (keyof typeof parts)[]).find((key) => parts[key] === ending);
  const takenAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (part === undefined || Number.isNaN(takenAt.getTime())) return undefined;
  return { id: name.slice(0, -(ending ?? "").length), part, takenAt };
}

export function encodeManifest({ id: _, takenAt, ...facts }: Backup): string {
  return `${JSON.stringify({ v: 1, ...facts, takenAt: takenAt.toISOString() }, undefined, 2)}\n`;
}

/** Throws when the text is not a manifest of ours. */
export function parseManifest(text: string, id: string, place: string): Backup {
  const parsed = manifestSchema.safeParse(jsonIn(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const found = `${issue?.path.join(".") || "the file"}: ${issue?.message ?? "not readable"}`;
    throw new TalosError("failed-precondition", `${place}/${id}${parts.manifest} is not the manifest of a backup`, {
      hint: `${found}. If the snapshot beside it is whole, restore from that file by its path.`,
    });
  }
  const { v: _, takenAt, ...facts } = parsed.data;
  return { ...facts, id, takenAt: new Date(takenAt) };
}
