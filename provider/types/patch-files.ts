// SPDX-License-Identifier: Apache-2.0
import { createHmac } from "node:crypto";
import { clusterSettings, givenIn } from "../../model/settings/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { type AttributePath, DiagnosticError, type Diagnostics, isUnknown, path } from "../framework/index.ts";
import type { Client } from "./client.ts";
import type { ClusterInput } from "./cluster/spec.ts";
import { translateError } from "./translate-error.ts";

/** A file that is named and not there; all else that is wrong with one is another matter. */
export class MissingPatchFile extends DiagnosticError {}

/**
 * The patches in these files, in order. Nothing of them may be shown: not in a diagnostic either.
 */
export async function patchesOfFiles(
  client: Client,
  files: readonly string[],
  cluster: Pick<ClusterInput, "talos_version" | "config_contract">,
  at: AttributePath,
): Promise<readonly string[]> {
  const { patchOfFile } = await import("../../talos/config/index.ts");
  const { parsePatchFile } = await import("../../talos/disk-key-file.ts");
  const { contractOf } = await import("../../talos/version/index.ts");
  const contract = contractOf(givenIn(clusterSettings, cluster));
  return Promise.all(
    files.map(async (name, index) => {
      const path = at.index(index);
      const { path: file, key } = parsePatchFile(name);
      const text = await client.sealedText(file).catch((error: { code?: unknown }) => {
        if (error.code !== "not-found") throw error;
        throw new MissingPatchFile({
          summary: "A patch file is missing",
          detail: `${file} is not there. Paths count from the project's root, ${client.root}.`,
          path,
        });
      });
      try {
        return patchOfFile(name, text, contract);
      } catch (error) {
        const told = translateError(error);
        if (told === undefined) throw error;
        const summary = key === undefined ? "Not a config patch" : "Not a passphrase";
        throw new DiagnosticError({ ...told, summary, path });
      }
    }),
  );
}

/** Tells that a file has changed, and nothing else: without the cluster's secrets nobody can try out what it holds. */
function patchHash(text: string, secrets: SecretsBundle): string {
  return createHmac("sha256", secrets.cluster.secret).update(text).digest("hex").slice(0, 32);
}

/** Patches in attributes are in plan and state: what is secret in them is refused, what may be is warned about. */
export async function refuseSecretPatches(
  patches: unknown,
  at: AttributePath,
  diagnostics: Diagnostics,
): Promise<void> {
  if (!Array.isArray(patches)) return;
  const { secretsInPatch } = await import("../../talos/config/index.ts");
  patches.forEach((text: unknown, index) => {
    if (typeof text !== "string" || isUnknown(text)) return;
    const path = at.index(index);
    let found: ReturnType<typeof secretsInPatch>;
    try {
      found = secretsInPatch(text, `${path}`);
    } catch {
      return; // Rendering the config says what is wrong with it.
    }
    const places = (certain: boolean) => found.filter((place) => place.certain === certain).map((place) => place.path);
    const [certain, possible] = [places(true), places(false)];
    if (certain.length > 0)
      diagnostics.error({
        summary: "A secret in a patch",
        detail: `The patch sets ${certain.join(", ")}, which would be stored in plan and state for all to read. Put the patch into a file of its own, encrypted with age or SOPS if you like, and name it in patch_files: it is then read when it is needed and stored nowhere.`,
        path,
      });
    if (possible.length > 0)
      diagnostics.warning({
        summary: "Perhaps a secret in a patch",
        detail: `The patch sets ${possible.join(", ")}, which is stored in plan and state. If it is secret, put the patch into a file and name it in patch_files.`,
        path,
      });
  });
}

/** The input with what its patch files hold among the patches of each machine. Secret: for rendering only. */
export async function withPatchFiles(input: ClusterInput, client: Client): Promise<ClusterInput> {
  const opened = async <H extends PatchHolder>(holders: Readonly<Record<string, H>>, at: AttributePath) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(holders).map(async ([name, holder]) => {
          if (holder.patch_files === null) return [name, holder] as const;
          const texts = await patchesOfFiles(client, holder.patch_files, input, at.key(name).attribute("patch_files"));
          return [name, { ...holder, patches: [...(holder.patches ?? []), ...texts] }] as const;
        }),
      ),
    );
  return {
    ...input,
    machines: await opened(input.machines, path("machines")),
    scaling_pools: input.scaling_pools && (await opened(input.scaling_pools, path("scaling_pools"))),
  };
}

/** A machine, or a pool whose machines are in no list. */
type PatchHolder = Pick<ClusterInput["machines"][string], "patches" | "patch_files">;

/** All that name patch files, with their paths. */
function patchHolders({
  machines,
  scaling_pools: pools,
}: Pick<ClusterInput, "machines" | "scaling_pools">): readonly (readonly [AttributePath, PatchHolder])[] {
  const at = (place: "machines" | "scaling_pools", holders: Readonly<Record<string, PatchHolder>>) =>
    Object.entries(holders).map(([name, holder]) => [path(place).key(name), holder] as const);
  return [...at("machines", machines), ...at("scaling_pools", pools ?? {})];
}

/** The hash of every patch file that the input names, by its path. */
export async function patchHashes(
  input: Pick<ClusterInput, "machines" | "scaling_pools" | "talos_version" | "config_contract">,
  client: Client,
  secrets: SecretsBundle,
): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const [at, { patch_files: files }] of patchHolders(input)) {
    const texts = await patchesOfFiles(client, files ?? [], input, at.attribute("patch_files"));
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
