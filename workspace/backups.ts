// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import {
  type Backup,
  type BackupStore,
  createBackup,
  etcdSource,
  findBackup,
  openStore,
  pruneBackups,
  type Schedule,
} from "../engine/backup/index.ts";
import { systemTiming, talosCredentials } from "../engine/index.ts";
import { nextRun } from "../model/cron.ts";
import { type BackupSection, type Environment, machinesOf, ownBucket } from "../model/index.ts";
import type { Credentials } from "../talos/api/index.ts";
import { readTalosconfig } from "../talos/config/index.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { publicKeyFingerprint } from "../talos/pki/index.ts";
import { knownFingerprints, sealSecrets } from "../talos/secrets/index.ts";
import { ageOf } from "./amounts.ts";
import { notDeployed } from "./project.ts";
import type { Workspace } from "./workspace.ts";

export interface OpenBackups {
  readonly workspace: Workspace;
  readonly section: BackupSection;
  readonly cluster: string;
  readonly store: BackupStore;
  /** Which of them are this cluster's; undefined where its secrets are not. */
  readonly cas: readonly string[] | undefined;
}

/** The place of an environment's backups. Refuses an environment without the section `backup`. */
export async function openBackups(workspace: Workspace): Promise<OpenBackups> {
  const opened = await findBackups(workspace);
  if (opened !== undefined) return opened;
  const { name, file } = workspace.environment;
  throw new TalosError("failed-precondition", `${file} has no section backup`, {
    hint: `Add backup: { directory: backups/${name} }, or a bucket under backup.s3.`,
  });
}

/** The same; undefined where the environment has no section `backup`. */
export async function findBackups(workspace: Workspace): Promise<OpenBackups | undefined> {
  const { environment, secrets } = workspace;
  const { backup: section, cluster } = environment;
  if (section === undefined) return undefined;
  const store = await storeOf(workspace, section);
  const bundle = await secrets.find();
  const cas = bundle === undefined ? undefined : knownFingerprints(bundle);
  return { workspace, section, cluster: cluster.name, store, cas };
}

async function storeOf(workspace: Workspace, { directory, s3 }: BackupSection): Promise<BackupStore> {
  const { root, environment } = workspace;
  const own = ownBucket(environment);
  const bucket = s3 ?? (own && { ...own, bucket: await madeBucket(workspace) });
  if (bucket === undefined) return openStore(given({ directory }), root);
  return openStore({ s3: { prefix: environment.cluster.name, ...given(bucket) } }, root);
}

/** Its name is made by AWS, so that only the state has it. */
async function madeBucket({ name, backupBucket }: Workspace): Promise<string> {
  const bucket = await backupBucket();
  if (bucket !== undefined) return bucket;
  throw new TalosError("not-found", `the bucket for backups of ${name} is not made yet`, {
    hint: `It is made with the cluster: talosmith deploy ${name}`,
  });
}

/** Takes a backup of a running cluster and puts it into its store. */
export async function takeBackup(
  { workspace, section, store }: OpenBackups,
  onRetry: (reason: string) => void,
): Promise<Backup> {
  const { environment, context } = workspace;
  const { endpoints, credentials } = await etcdAccess(workspace);
  const secrets = section.pki === undefined ? undefined : await workspace.secrets.find();
  if (section.pki !== undefined && secrets === undefined) {
    throw new TalosError("not-found", `${environment.secrets.file} is not there, but backup.pki asks for it`, {
      hint: "Run this where the secrets are, or take backup.pki out.",
    });
  }
  return createBackup({
    cluster: environment.cluster.name,
    caFingerprint: publicKeyFingerprint(credentials.ca),
    source: etcdSource(endpoints, credentials),
    store,
    ...given({ sealedSecrets: secrets && (await sealSecrets(secrets, section.pki?.ageRecipients ?? [])) }),
    clock: context.clock,
    entropy: context.entropy,
    timing: systemTiming,
    signal: context.signal,
    onRetry,
  });
}

/** Takes a backup, then removes those that no rule of the file keeps any more; `removed` are their ids. */
export async function takeAndPrune(
  backups: OpenBackups,
  onRetry: (reason: string) => void,
): Promise<Pick<Backup, "id" | "bytes" | "revision" | "sha256"> & { readonly removed: readonly string[] }> {
  const { workspace, store, cluster, section } = backups;
  const { clock, signal } = workspace.context;
  const { id, bytes, revision, sha256 } = await takeBackup(backups, onRetry);
  const removed = await pruneBackups(store, cluster, section.keep, clock.now(), { signal });
  return { id, bytes, revision, sha256, removed: removed.map((old) => old.id) };
}

/** When the file wants backups; undefined when only by hand. */
export function scheduleOf({ backup }: Environment): Schedule | undefined {
  if (backup?.schedule === undefined) return undefined;
  return { cron: backup.schedule, timeZone: backup.timeZone, jitter: backup.jitter };
}

/** How etcd is reached: as the file and the simulator know it, else as the talosconfig of the last deploy says. */
async function etcdAccess(
  workspace: Workspace,
): Promise<{ readonly endpoints: readonly string[]; readonly credentials: Credentials }> {
  const { root, environment, context, clientFiles } = workspace;
  const machines = await workspace.machines.find();
  const known = machinesOf(environment).flatMap(({ name, role }) => {
    const address = role === "controlplane" ? machines.get(name)?.address : undefined;
    return address === undefined ? [] : [address];
  });
  const secrets = await workspace.secrets.find();
  const file = clientFiles.paths.talosconfig;
  const talosconfig =
    known.length > 0 && secrets !== undefined ? undefined : await deployedContext(root, file, environment);
  const endpoints = known.length > 0 ? known : (talosconfig?.endpoints ?? []);
  if (secrets !== undefined) {
    // No more than a backup needs.
    return { endpoints, credentials: talosCredentials(secrets, context, ["os:etcd:backup"]) };
  }
  if (talosconfig?.credentials === undefined) throw notDeployed(environment.name, `${file} has no client certificate`);
  return { endpoints, credentials: talosconfig.credentials };
}

async function deployedContext(root: string, file: string, environment: Environment) {
  try {
    const config = await readTalosconfig(join(root, file));
    return config.contexts.get(config.context);
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found")
      throw notDeployed(environment.name, `there is no ${file}`);
    throw error;
  }
}

/** How old the newest backup of an environment is, and whether that is too old. Never throws: not knowing is a state. */
export type BackupStatus = {
  readonly place?: string;
  /** Name of the newest backup. */
  readonly last?: string;
  readonly ageSeconds?: number;
  /** Size of the newest backup. */
  readonly bytes?: number;
  /** What is wrong; absent when nothing is. */
  readonly problem?: string;
  /** The place could not be read, so that nothing is known. */
  readonly unreadable?: true;
};

/** Undefined where the environment has no section `backup`. */
export async function backupStatus(workspace: Workspace): Promise<BackupStatus | undefined> {
  const { context } = workspace;
  try {
    const opened = await findBackups(workspace);
    if (opened === undefined) return undefined;
    const { section, cluster, store, cas } = opened;
    const { id, takenAt, bytes } = await findBackup(store, cluster, "latest", { cas, signal: context.signal });
    const now = context.clock.now();
    const ageSeconds = Math.floor((now.getTime() - takenAt.getTime()) / 1000);
    const late = section.schedule !== undefined && missedTwo(section.schedule, section.timeZone, takenAt, now);
    const problem = late ? "the schedule was missed twice" : undefined;
    return { place: store.place, last: id, ageSeconds, bytes, ...given({ problem }) };
  } catch (error) {
    const { message, code } = TalosError.from(error);
    return code === "not-found" ? { problem: message } : { problem: message, unreadable: true };
  }
}

/** One time may just be on its way. */
function missedTwo(cron: string, timeZone: string, takenAt: Date, now: Date): boolean {
  const first = nextRun({ cron, timeZone }, takenAt);
  const second = first && nextRun({ cron, timeZone }, first);
  return second !== undefined && second < now;
}

/** One line for a person. */
export function backupLine({ last, ageSeconds = 0, problem }: BackupStatus): string {
  if (last === undefined) return `backup: none: ${problem}`;
  return `backup: ${last}, ${ageOf(ageSeconds * 1000)} old${problem === undefined ? "" : `: ${problem}`}`;
}
