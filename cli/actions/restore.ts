// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { posix, resolve } from "node:path";
import {
  downloadBackup,
  findBackup,
  isOf,
  openStore,
  parseS3Url,
  ScratchFile,
  type SnapshotStatus,
  snapshotStatus,
} from "../../talos/backup/index.ts";
import { type ClusterSpec, checkOwner, desiredCluster, restoreCluster } from "../../talos/cluster/index.ts";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { temporaryFolder } from "../../talos/process-folder.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { openBackups } from "../helper/backups.ts";
import { clientFiles, ensureClientFiles } from "../helper/client-files.ts";
import { clusterSpec } from "../helper/cluster-spec.ts";
import { clusterJournal } from "../helper/helper-door.ts";
import { runsWithoutTerraform } from "../helper/kinds.ts";
import { ensureMachines } from "../helper/machines.ts";
import { claimOf } from "../helper/owner.ts";
import { readPatchFiles } from "../helper/patch-files.ts";
import { emergencyPolicy } from "../helper/rollout.ts";
import { findSecrets } from "../helper/secrets.ts";
import { openEnvironment } from "../open-environment.ts";
import { sizeOf } from "../output/amounts.ts";
import { withProgress } from "../output/progress.ts";
import { recordedSpec } from "../terraform/recorded-spec.ts";

export interface RestoreFlags extends ApprovalFlags {
  readonly from: string;
  readonly discardData: boolean;
  readonly json: boolean;
}

/** Rebuilds a cluster from a backup. The backup is fetched and checked before anyone is asked or anything touched. */
export async function restore(name: string, flags: RestoreFlags, context: CommandContext): Promise<void> {
  const { root, environment } = openEnvironment(name, context);
  const secrets = await findSecrets(root, environment, context);
  if (secrets === undefined) {
    throw new TalosError("not-found", `${environment.secrets.file} is not there`, {
      hint: "A backup can only be restored with the secrets of its cluster. With backup.pki they lie beside it: decrypt them with age -d.",
    });
  }
  const folder = temporaryFolder("restore");
  try {
    const { path, status } = await fetchSnapshot(name, flags.from, folder, context);
    const cluster = environment.cluster.name;
    context.stderr.write(
      `${flags.from}: ${sizeOf(status.bytes)}, revision ${status.revision}, hash ${status.hash}: whole.\n`,
    );
    const question = `Everything in ${cluster} goes back to this backup. What came after it is lost.`;
    if (!(await approved(question, cluster, flags, context))) {
      context.stderr.write("Nothing was changed.\n");
      context.exit(1);
      return;
    }
    const desired = desiredCluster(await specOf(root, environment, context), secrets);
    await withProgress(context, { json: flags.json }, async (events) => {
      const journal = clusterJournal(root, desired.name);
      const options = { desired, secrets, events, journal, signal: context.signal };
      await checkOwner({ ...options, claim: claimOf(root, environment) });
      const { discardData } = flags;
      const policy = emergencyPolicy(environment);
      await restoreCluster({ ...options, snapshot: path, discardData, policy }).catch(nameTheFlag);
    });
    await ensureClientFiles(root, environment.name, desired, secrets, context);
    context.stderr.write(`${cluster} is back. kubeconfig: ${clientFiles(environment.name).kubeconfig}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With machines made where that is ours to do; others are there, and their state tells what they are. */
async function specOf(root: string, environment: Environment, context: CommandContext): Promise<ClusterSpec> {
  if (!runsWithoutTerraform(environment.kind)) {
    const spec = await recordedSpec(root, environment, context);
    if (spec !== undefined) return spec;
    throw new TalosError("not-found", `${environment.name} is not deployed: its state has no cluster`, {
      hint: `A backup is restored onto machines. Make them: talosmith deploy ${environment.name}`,
    });
  }
  const files = await readPatchFiles(root, environment, context);
  return clusterSpec(environment, await ensureMachines(root, environment), [], files);
}

/** The engine knows no flags. */
function nameTheFlag(error: unknown): never {
  const known = TalosError.from(error);
  if (known.code !== "failed-precondition" || !known.message.includes("etcd data")) throw error;
  const hint = "Heal the members instead if you can. If the cluster is lost for good, add --discard-data.";
  throw new TalosError(known.code, known.message, { hint, cause: error });
}

/** A file by its path, an object by its URL, else a backup of the environment by its name. */
async function fetchSnapshot(
  name: string,
  from: string,
  folder: string,
  context: CommandContext,
): Promise<{ readonly path: string; readonly status: SnapshotStatus }> {
  const file = resolve(context.cwd, from);
  if (from !== "latest" && existsSync(file)) return { path: file, status: await snapshotStatus(file) };
  const object = parseS3Url(from);
  if (object !== undefined) return fetchObject(name, object, folder, context);
  const { store, cluster, cas, environment } = await openBackups(name, context);
  const backup = await findBackup(store, cluster, from, { cas, signal: context.signal });
  if (!isOf(backup, cas)) {
    throw new TalosError("failed-precondition", `${backup.id} is of another cluster that was called ${cluster}`, {
      hint: `What is in it can only be opened with the secrets of that cluster. Put them into ${environment.secrets.file} first.`,
    });
  }
  return { path: await downloadBackup(store, backup, folder, context.signal), status: backup };
}

/** With the region, endpoint and profile that the environment's backups use, if it has any in S3. */
async function fetchObject(
  name: string,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  folder: string,
  context: CommandContext,
): Promise<{ readonly path: string; readonly status: SnapshotStatus }> {
  const { root, environment } = openEnvironment(name, context);
  const prefix = key.includes("/") ? posix.dirname(key) : undefined;
  const store = await openStore({ s3: { ...environment.backup?.s3, bucket, prefix } }, root);
  const file = await ScratchFile.in(folder);
  try {
    await file.receive(store.read(posix.basename(key), context.signal), () => {});
  } finally {
    await file.handle.close();
  }
  const path = file.path ?? "";
  return { path, status: await snapshotStatus(path) };
}
