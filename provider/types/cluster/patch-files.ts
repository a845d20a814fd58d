// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import { path } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { patchesOfFiles, patchHash } from "../patch-files.ts";
import type { ClusterInput } from "./spec.ts";

/** The input with what its patch files hold among the patches of each machine. Secret: for rendering only. */
export async function withPatchFiles(input: ClusterInput, client: Client): Promise<ClusterInput> {
  const machines = await Promise.all(
    Object.entries(input.machines).map(async ([name, machine]) => {
      if (machine.patch_files === null) return [name, machine] as const;
      const at = path("machines").key(name).attribute("patch_files");
      const texts = await patchesOfFiles(client, machine.patch_files, input.talos_version, at);
      return [name, { ...machine, patches: [...(machine.patches ?? []), ...texts] }] as const;
    }),
  );
  return { ...input, machines: Object.fromEntries(machines) };
}

/** The hash of every patch file that the input names, by its path. */
export async function patchHashes(
  input: Pick<ClusterInput, "machines" | "talos_version">,
  client: Client,
  secrets: SecretsBundle,
): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const [name, { patch_files: files }] of Object.entries(input.machines)) {
    const at = path("machines").key(name).attribute("patch_files");
    const texts = await patchesOfFiles(client, files ?? [], input.talos_version, at);
    files?.forEach((file, index) => {
      hashes[file] = patchHash(texts[index] ?? "", secrets);
    });
  }
  return hashes;
}

/** Files whose content is not what was applied. */
export function changedPatchFiles(
  before: Readonly<Record<string, string>> | null,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(after).filter((file) => before?.[file] !== after[file]);
}

/** For each machine, which of its patch files are new, gone or changed: by name, for what they hold is nobody's business. */
export function changesOfFiles(
  prior: Pick<ClusterInput, "machines">,
  next: Pick<ClusterInput, "machines">,
  changed: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const changes: Record<string, readonly string[]> = {};
  for (const [name, { patch_files: files }] of Object.entries(next.machines)) {
    const before = prior.machines[name]?.patch_files ?? [];
    const after = files ?? [];
    const lines = [
      ...after.filter((file) => !before.includes(file)).map((file) => `patch_files: ${file} is new`),
      ...after
        .filter((file) => before.includes(file) && changed.includes(file))
        .map((file) => `patch_files: ${file} has changed`),
      ...before.filter((file) => !after.includes(file)).map((file) => `patch_files: ${file} is gone`),
    ];
    if (prior.machines[name] !== undefined && lines.length > 0) changes[name] = lines;
  }
  return changes;
}
