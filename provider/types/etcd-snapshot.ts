// SPDX-License-Identifier: Apache-2.0
import { hostname } from "node:os";
import type { Backup, BackupStore } from "../../engine/backup/index.ts";
import { bucketSettings, givenIn, withDefaults } from "../../model/settings/index.ts";
import {
  type Attributes,
  attribute,
  checkDuration,
  isUnknown,
  type Operation,
  type PlanOf,
  parseDuration,
  path,
  type Resource,
  type StateOf,
  unknown,
  type ValidateRequest,
} from "../framework/index.ts";
import type { Client } from "./client.ts";
import { parseSnapshotAddress, snapshotAddress } from "./import-snapshot.ts";
import { attributesOf } from "./setting-attributes.ts";
import { reasonOf } from "./translate-error.ts";
import { controlPlaneAddresses, oneOf } from "./value-rules.ts";

/** Where backups lie. */
export const backupPlace = {
  directory: attribute.optional.string("A folder for the backup, relative to the project's root. Either this or `s3`."),
  s3: attribute.optional.nestedObject(
    "A bucket for the backup. Credentials come from the usual chain and never stand here.",
    attributesOf(bucketSettings),
  ),
} satisfies Attributes;

/** Of what is backed up, and where to. */
export const backupAttributes = {
  cluster_name: attribute.required.string("Name of the cluster.", { replaces: true }),
  endpoints: controlPlaneAddresses,
  ...backupPlace,
  pki_age_recipients: attribute.optional.stringList(
    "Put the secrets bundle beside the snapshot, encrypted with age for these: `age1…`.",
  ),
} satisfies Attributes;

const attributes = {
  ...backupAttributes,
  triggers: attribute.optional.stringMap(
    "Any texts. A change of one takes a new backup, such as `{ talos = talosmith_cluster.this.talos_version }`.",
  ),
  max_age: attribute.optional.string(
    "A backup that is older, such as `26h`, is told in every plan. Default: none is.",
    { validators: [checkDuration] },
  ),
  on_destroy: attribute.defaulted.string(
    "`keep` leaves the backup where it is, `remove` takes it away with the resource or a newer one.",
    { default: "keep", validators: [oneOf("keep", "remove")] },
  ),
  id: attribute.computed.string("Name of the backup."),
  place: attribute.computed.string("Where it lies."),
  host: attribute.computed.string(
    "Name of the computer whose folder has it. Others only warn that they do not see it.",
  ),
  taken_at: attribute.computed.string("When it was taken, RFC 3339."),
  bytes: attribute.computed.integer("Size of the snapshot."),
  sha256: attribute.computed.string("SHA-256 of the database as etcd wrote it."),
  revision: attribute.computed.integer("etcd's revision in it."),
  hash: attribute.computed.string(
    "Hash of the database's content, hexadecimal, as `etcdutl snapshot status` tells it.",
  ),
} satisfies Attributes;

type Schema = typeof attributes;
type State = StateOf<Schema>;

const computed = ["id", "place", "host", "taken_at", "bytes", "sha256", "revision", "hash"] as const;

/** One backup: taken when it is created and whenever its triggers change. */
export const etcdSnapshot: Resource<Schema, Client> = {
  name: "talosmith_etcd_snapshot",
  description:
    "A backup of a cluster's etcd in a folder or an S3-compatible store: taken, checked from end to end, and only then put there. A schedule is the business of `talosmith backup run`.",
  attributes,
  timeouts: { create: "30m", update: "30m" },

  validate: oneBackupPlace,

  plan({ prior, planned, diagnostics }) {
    if (prior === null) return {};
    const again = (["directory", "s3", "triggers", "pki_age_recipients"] as const).some(
      (name) =>
        JSON.stringify(prior[name]) !== JSON.stringify(planned[name]) &&
        // The first triggers are no change; an import cannot know them.
        !(name === "triggers" && prior.triggers === null),
    );
    if (again) return { values: Object.fromEntries(computed.map((name) => [name, unknown])) };
    tellAge(prior, planned.max_age, diagnostics);
    return { values: pick(prior) };
  },

  create: ({ planned, ...operation }) => takeBackup(planned, operation),

  async read({ state, ...operation }) {
    const { findBackup } = await import("../../engine/backup/index.ts");
    try {
      const store = await storeOf(state, operation.client);
      await findBackup(store, state.cluster_name, state.id ?? "", { signal: operation.signal });
      return state;
    } catch (error) {
      const { code, message } = error as { code?: unknown; message?: string };
      if (code === "not-found") return (await newerBackup(state, operation)) ?? missing(state, operation.diagnostics);
      operation.diagnostics.warning({ summary: "The backup could not be checked", detail: String(message) });
      return state;
    }
  },

  async update({ prior, planned, ...operation }) {
    if (!isUnknown(planned.id)) return { ...known(planned), ...pick(prior) };
    const state = await takeBackup(planned, operation);
    if (state.on_destroy === "remove") await removeOld(prior, operation);
    return state;
  },

  async delete({ state, ...operation }) {
    if (state.on_destroy === "remove") await removeBackup(state, operation);
  },

  identity: {
    attributes: { address: "Where it lies: folder and name, or the URL of its bucket, as for an import." },
    of: ({ id, directory, s3 }) => (id === null ? undefined : { address: snapshotAddress({ directory, s3 }, id) }),
    idOf: ({ address = "" }) => address,
  },

  async import({ id, client, signal }) {
    const { findBackup } = await import("../../engine/backup/index.ts");
    const { directory, s3, backup, cluster } = parseSnapshotAddress(id);
    const store = await storeOf({ directory, s3 }, client);
    const found = await findBackup(store, cluster, backup, { signal });
    return {
      cluster_name: cluster,
      endpoints: [found.endpoint],
      directory,
      s3,
      on_destroy: "keep",
      ...facts(found, store, directory),
    };
  },
};

/** Refuses none, and two. */
export function oneBackupPlace({ config, diagnostics }: ValidateRequest<typeof backupPlace>): void {
  const { directory, s3 } = config;
  if (isUnknown(directory) || isUnknown(s3) || (directory === null) !== (s3 === null)) return;
  diagnostics.error({
    summary: "One place for the backup",
    detail: "Give either directory or s3.",
    path: path("directory"),
  });
}

/**
 * The newest backup, where the one of the state is gone and newer ones are there: a schedule, or `talosmith backup prune`, has
 * removed it. Not of a backup that is removed with its resource, or that is in a folder of another computer.
 */
async function newerBackup(state: State, { client, signal }: Operation<Client>): Promise<State | undefined> {
  if (state.on_destroy === "remove" || isElsewhere(state)) return undefined;
  const { listBackups } = await import("../../engine/backup/index.ts");
  const store = await storeOf(state, client);
  const newest = (await listBackups(store, state.cluster_name, signal)).at(-1);
  if (newest === undefined || newest.takenAt.getTime() <= Date.parse(state.taken_at ?? "")) return undefined;
  return { ...state, ...facts(newest, store, state.directory) };
}

const isElsewhere = ({ host }: State) => host !== null && host !== hostname();

/** A folder is on one computer, and the state may be everybody's: only there a backup that is missing is gone. */
function missing(state: State, diagnostics: Operation<Client>["diagnostics"]): State | null {
  if (!isElsewhere(state)) return null;
  diagnostics.warning({
    summary: "The backup is on another computer",
    detail: `${state.id} was taken on ${state.host}, and ${state.place} here does not hold it; whether it is still there was not checked. Where several people or machines apply, put backups into s3.`,
    path: path("directory"),
  });
  return state;
}

function tellAge(prior: State, maxAge: unknown, diagnostics: Operation<Client>["diagnostics"]): void {
  const most = typeof maxAge === "string" ? parseDuration(maxAge) : undefined;
  const age = Date.now() - Date.parse(prior.taken_at ?? "");
  if (most === undefined || !(age > most)) return;
  diagnostics.warning({
    summary: "The backup is old",
    detail: `${prior.id} was taken at ${prior.taken_at}, ${Math.floor(age / 3_600_000)} hours ago. Take a new one by a change of triggers, or with: talosmith backup create <environment>`,
    path: path("max_age"),
  });
}

async function takeBackup(planned: PlanOf<Schema>, operation: Operation<Client>): Promise<State> {
  const { backup, store } = await newBackup(planned, operation);
  return { ...known(planned), ...facts(backup, store, planned.directory) };
}

/** Takes a backup, checks it, and puts it into its place. */
export async function newBackup(
  planned: PlanOf<typeof backupAttributes>,
  { client, signal, log }: Operation<Client>,
): Promise<{ readonly backup: Backup; readonly store: BackupStore }> {
  const [backups, { systemClock, systemEntropy }, { systemTiming, talosCredentials }, { caFingerprint, sealSecrets }] =
    await Promise.all([
      import("../../engine/backup/index.ts"),
      import("../../talos/clock.ts"),
      import("../../engine/index.ts"),
      import("../../talos/secrets/index.ts"),
    ]);
  const secrets = await client.secrets.of(null);
  const issuing = { clock: systemClock, entropy: systemEntropy };
  const credentials = talosCredentials(secrets, issuing, ["os:etcd:backup"]);
  const store = await storeOf(planned, client);
  const recipients = planned.pki_age_recipients;
  const backup = await backups.createBackup({
    ...issuing,
    cluster: planned.cluster_name,
    caFingerprint: caFingerprint(secrets),
    source: backups.etcdSource(planned.endpoints, credentials),
    store,
    sealedSecrets: recipients === null ? undefined : await sealSecrets(secrets, recipients),
    timing: systemTiming,
    signal,
    onRetry: (reason) => log("info", `again after: ${reason}`),
  });
  return { backup, store };
}

function facts(
  backup: Backup,
  { place }: BackupStore,
  directory: string | null,
): Pick<State, (typeof computed)[number]> {
  const { id, takenAt, bytes, sha256, revision, hash } = backup;
  const host = directory === null ? null : hostname();
  return { id, place, host, taken_at: takenAt.toISOString(), bytes, sha256, revision, hash };
}

/** What has a default is never left unknown. */
function known(planned: PlanOf<Schema>): Omit<State, (typeof computed)[number]> {
  return planned as State;
}

function pick(state: State): Pick<State, (typeof computed)[number]> {
  return Object.fromEntries(computed.map((name) => [name, state[name]])) as Pick<State, (typeof computed)[number]>;
}

export async function storeOf(
  { directory, s3 }: Pick<State, "directory" | "s3">,
  client: Client,
): Promise<BackupStore> {
  const { openStore } = await import("../../engine/backup/index.ts");
  if (s3 === null) return openStore({ directory: directory ?? undefined }, client.root);
  return openStore({ s3: withDefaults(bucketSettings, givenIn(bucketSettings, s3)) }, client.root);
}

/** The new one is there, and the state must say so, whatever becomes of the one before. */
async function removeOld(prior: State, operation: Operation<Client>): Promise<void> {
  try {
    await removeBackup(prior, operation);
  } catch (error) {
    operation.diagnostics.warning({
      summary: "The old backup was left",
      detail: `${prior.place}/${prior.id} could not be removed: ${reasonOf(error)}`,
    });
  }
}

async function removeBackup(state: State, { client, signal }: Operation<Client>): Promise<void> {
  const { removeBackup: remove } = await import("../../engine/backup/index.ts");
  await remove(await storeOf(state, client), state.id ?? "", signal);
}
