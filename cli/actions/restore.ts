// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { posix, resolve } from "node:path";
import {
  type Backup,
  downloadBackup,
  findBackup,
  isOf,
  openStore,
  parseS3Url,
  ScratchFile,
  type SnapshotStatus,
  snapshotStatus,
} from "../../engine/backup/index.ts";
import {
  checkOwner,
  type DesiredCluster,
  deleteNodes,
  type EngineOptions,
  type EventListener,
  previewRestore,
  type RestoreOptions,
  type RestorePlan,
  type RestoreResult,
  restoreCluster,
} from "../../engine/index.ts";
import { ownBucket } from "../../model/index.ts";
import { findingLine, stepsText } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { temporaryFolder } from "../../talos/process-folder.ts";
import { sizeOf } from "../../workspace/amounts.ts";
import { openBackups } from "../../workspace/backups.ts";
import { emergencyPolicy } from "../../workspace/rollout.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor, confirmed } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { styleOf } from "../output/colors.ts";
import { withProgress, withStatus } from "../output/progress.ts";
import { jsonText } from "../output/table.ts";
import { wrapped } from "../output/wrap.ts";
import { showManager } from "./change.ts";
import { endDryRun } from "./plan.ts";

interface RestoreFlags extends ApprovalFlags {
  readonly from: string;
  readonly discardData: boolean;
  /** Delete nodes that the backup has, that are not in the file and do not answer. @default false: asked on a terminal */
  readonly deleteDeadNodes?: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** Rebuilds a cluster from a backup. The backup is fetched and checked before anyone is asked or anything touched. */
export async function restore(name: string, flags: RestoreFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true });
  const { environment, clientFiles } = workspace;
  const secrets = await workspace.secrets.find();
  if (secrets === undefined) {
    throw new TalosError("not-found", `${environment.secrets.file} is not there`, {
      hint: "A backup can only be restored with the secrets of its cluster. With backup.pki they are stored with it: decrypt them with age -d.",
    });
  }
  await showManager(workspace, flags, context);
  const folder = temporaryFolder("restore");
  try {
    const { path, status, label } = await fetchSnapshot(workspace, flags.from, folder);
    const cluster = environment.cluster.name;
    context.stderr.write(
      `${label}: ${sizeOf(status.bytes)}, revision ${status.revision}, hash ${status.hash}: whole.\n`,
    );
    const { discardData } = flags;
    const desired = await workspace.desiredAgain(secrets);
    const policy = emergencyPolicy(environment);
    const options = { ...workspace.engineOptionsFor({ desired, secrets }), snapshot: path, discardData, policy };
    const planned = await planRestore(workspace, options, context);
    showPlan(planned, { cluster, label, takenAt: status.takenAt, desired }, flags, context);
    if (flags.dryRun) {
      endDryRun(commandOf(name, flags), context);
      return;
    }
    const question = `Restore ${name} from this backup? This cannot be undone.`;
    if (!(await approvedFor(environment, question, flags, context))) return;
    const strays = await withProgress(context, { json: flags.json, title: name }, async (events) => {
      await checkOwner({ ...options, events, claim: workspace.claim });
      const { strays } = await restoreCluster({ ...options, events }).catch(nameTheFlag);
      return strays;
    });
    await forgetNodes(strays, options, flags, context);
    await clientFiles.ensure(desired, secrets);
    context.stderr.write(`${cluster} is back. kubeconfig: ${clientFiles.paths.kubeconfig}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function commandOf(name: string, { from, discardData, deleteDeadNodes = false }: RestoreFlags): string {
  const switches = [discardData && "--discard-data", deleteDeadNodes && "--delete-dead-nodes"].filter(
    (word) => word !== false,
  );
  return ["restore", name, "--from", from, ...switches].join(" ");
}

/** Looks at the machines, and shows on a terminal that it does. Refused here is what would be refused after the approval. */
async function planRestore(
  { name }: Workspace,
  options: RestoreOptions,
  context: CommandContext,
): Promise<RestorePlan> {
  return withStatus(context, `Planning ${name}`, (waits) => {
    const events: EventListener = ({ type, message }) => {
      if (type === "waiting") waits(message);
    };
    return previewRestore({ ...options, events }).catch(nameTheFlag);
  });
}

interface RestoreFacts {
  readonly cluster: string;
  readonly label: string;
  /** Undefined of a file without a manifest. */
  readonly takenAt: Date | undefined;
  readonly desired: DesiredCluster;
}

/** What is lost, then the steps, whether it is asked for or not. For programs the progress has the steps, too. */
function showPlan(plan: RestorePlan, facts: RestoreFacts, flags: RestoreFlags, context: CommandContext): void {
  const { dryRun, json } = flags;
  const out = dryRun && !json ? context.stdout : context.stderr;
  const style = styleOf(out, context);
  const findings = lossesOf(plan, facts).map((sentence) =>
    findingLine({ level: "danger", title: "Data lost", address: facts.cluster, sentence }, style),
  );
  if (findings.length > 0) out.write(wrapped(`\n${findings.join("\n")}\n`, out.columns));
  if (json && dryRun) {
    const steps = plan.steps.map(({ id, sentence, machine }) => ({ id, sentence, ...given({ machine }) }));
    context.stdout.write(jsonText({ v: 1, steps }));
  } else if (!json) {
    const sentences = plan.steps.map(({ sentence }) => sentence);
    const names = facts.desired.machines.map(({ name }) => name);
    const steps = plan.resumed
      ? "An earlier run has started etcd from this backup: the rest of it is done.\n"
      : stepsText(sentences, names, style);
    out.write(wrapped(`\n${steps}${dryRun ? "" : "\n"}`, out.columns));
  }
}

/** A run that goes on wipes nothing any more. */
function lossesOf({ steps, resumed }: RestorePlan, { cluster, label, takenAt }: RestoreFacts): readonly string[] {
  if (resumed) return [];
  const wiped = steps.flatMap(({ kind, machine }) => (kind === "wipe-etcd" ? [machine] : []));
  const when = takenAt === undefined ? label : `${label} was taken (${takenAt.toISOString()})`;
  return [
    ...(wiped.length === 0 ? [] : [`the etcd data of ${wiped.join(", ")} is wiped.`]),
    `all changes in the Kubernetes of cluster ${cluster} since ${when} are lost.`,
  ];
}

/** Nodes that the backup has and the file has not: those that do not answer are deleted where a person agrees. */
async function forgetNodes(
  strays: RestoreResult["strays"],
  options: EngineOptions,
  { deleteDeadNodes = false }: RestoreFlags,
  context: CommandContext,
): Promise<void> {
  if (strays.length === 0) return;
  const dead = strays.filter(({ ready }) => !ready).map(({ name }) => name);
  const all = strays.map(({ name, ready }) => `${name}${ready ? "" : " (not ready)"}`);
  context.stderr.write(`Nodes of the backup that are not in the file: ${all.join(", ")}.\n`);
  if (dead.length === 0) return;
  const isAsked = !deleteDeadNodes && context.stderr.isTerminal && process.stdin.isTTY === true;
  if (deleteDeadNodes || (isAsked && (await confirmed(`Delete ${dead.join(", ")} from Kubernetes?`, context)))) {
    await deleteNodes(options, dead);
    context.stderr.write(`Deleted: ${dead.join(", ")}.\n`);
  } else context.stderr.write(`If their machines are gone: kubectl delete node ${dead.join(" ")}\n`);
}

/** The engine knows no flags. */
function nameTheFlag(error: unknown): never {
  const known = TalosError.from(error);
  if (known.code !== "failed-precondition" || !known.message.includes("etcd data")) throw error;
  const hint =
    "Heal the members instead if you can. If the cluster is lost for good, run the same command with --discard-data.";
  throw new TalosError(known.code, known.message, { hint, cause: error });
}

interface Snapshot {
  readonly path: string;
  readonly status: SnapshotStatus & Partial<Pick<Backup, "takenAt">>;
  /** How people know it. */
  readonly label: string;
}

/** A file by its path, an object by its URL, else a backup of the environment by its name. */
async function fetchSnapshot(workspace: Workspace, from: string, folder: string): Promise<Snapshot> {
  const { environment, context } = workspace;
  const file = resolve(context.cwd, from);
  if (from !== "latest" && existsSync(file)) return { path: file, status: await snapshotStatus(file), label: from };
  const object = parseS3Url(from);
  if (object !== undefined) return { ...(await fetchObject(workspace, object, folder)), label: from };
  const { store, cluster, cas } = await openBackups(workspace);
  const backup = await findBackup(store, cluster, from, { cas, signal: context.signal });
  if (!isOf(backup, cas)) {
    throw new TalosError("failed-precondition", `${backup.id} is of another cluster that was called ${cluster}`, {
      hint: `What is in it can only be opened with the secrets of that cluster. Put them into ${environment.secrets.file} first.`,
    });
  }
  return { path: await downloadBackup(store, backup, folder, context.signal), status: backup, label: backup.id };
}

/** With the region, endpoint and profile that the environment's backups use, if it has any in S3. */
async function fetchObject(
  { root, environment, context }: Workspace,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  folder: string,
): Promise<Omit<Snapshot, "label">> {
  const prefix = key.includes("/") ? posix.dirname(key) : undefined;
  const store = await openStore({ s3: { ...ownBucket(environment), ...environment.backup?.s3, bucket, prefix } }, root);
  const file = await ScratchFile.in(folder);
  try {
    await file.receive(store.read(posix.basename(key), context.signal), () => {});
  } finally {
    await file.handle.close();
  }
  const path = file.path ?? "";
  return { path, status: await snapshotStatus(path) };
}
