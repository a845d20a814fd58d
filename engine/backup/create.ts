// SPDX-License-Identifier: Apache-2.0

import { type Credentials, connect } from "../../talos/api/index.ts";
import type { Clock, Entropy } from "../../talos/clock.ts";
import { TalosError } from "../../talos/errors.ts";
import type { Timing } from "../index.ts";
import { type Backup, backupId, encodeManifest, parts } from "./backup.ts";
import type { BackupStore, ScratchFile } from "./scratch-file.ts";
import { receiveSnapshot, type SnapshotStatus } from "./snapshot-status.ts";

export interface CreateOptions {
  readonly cluster: string;
  readonly caFingerprint: string;
  readonly source: SnapshotSource;
  readonly store: BackupStore;
  /** The secrets bundle, encrypted already, to lie beside the snapshot. @default none */
  readonly sealedSecrets?: string | undefined;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly timing: Timing;
  readonly signal?: AbortSignal;
  /** Told before each new attempt. */
  readonly onRetry?: (reason: string) => void;
}

/**
 * Takes a backup: receives a snapshot, makes sure that it is whole and readable, then puts it into the store. What
 * passes by itself is tried again. Either the whole backup is there afterwards or none of it can be seen.
 */
export async function createBackup(options: CreateOptions): Promise<Backup> {
  const { store, cluster, caFingerprint, sealedSecrets, signal } = options;
  const takenAt = options.clock.now();
  const id = backupId(cluster, takenAt, Buffer.from(options.entropy(2)).toString("hex"));
  const { file, endpoint, status } = await retrying(() => receive(options), options);
  const written: string[] = [];
  const put = (part: keyof typeof parts, write: (name: string) => Promise<void>) =>
    retrying(async () => {
      const name = `${id}${parts[part]}`;
      written.push(name);
      await write(name);
    }, options);
  try {
    const backup = { id, cluster, takenAt, endpoint, caFingerprint, ...status, pki: sealedSecrets !== undefined };
    await put("snapshot", (name) => store.add(name, file, signal));
    if (sealedSecrets !== undefined) await put("pki", (name) => store.addText(name, sealedSecrets, signal));
    await put("manifest", (name) => store.addText(name, encodeManifest(backup), signal));
    return backup;
  } catch (error) {
    await withdraw(store, written);
    throw error;
  } finally {
    await file.discard();
  }
}

async function receive({ source, store, signal }: CreateOptions): Promise<{
  readonly file: ScratchFile;
  readonly endpoint: string;
  readonly status: SnapshotStatus;
}> {
  const file = await store.scratch();
  try {
    return await source.take(async (endpoint, chunks) => {
      const status = await receiveSnapshot(file, chunks, `what ${endpoint} sent`);
      return { file, endpoint, status };
    }, signal);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** What has no manifest is no backup; it is taken away now, or by a later prune when the store does not answer. */
async function withdraw(store: BackupStore, names: readonly string[]): Promise<void> {
  for (const name of [...names].reverse()) await store.remove(name).catch(() => {});
}

const pauses = [1_000, 4_000, 15_000];

/** Does the work again after what may pass by itself, with longer and longer pauses; then the last error stands. */
async function retrying<T>(
  work: () => Promise<T>,
  { timing, signal, onRetry }: Pick<CreateOptions, "timing" | "signal" | "onRetry">,
): Promise<T> {
  for (const pause of pauses) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TalosError) || !error.retryable) throw error;
      onRetry?.(error.message);
      await timing.sleep(pause, signal);
    }
  }
  return work();
}

/** Where a snapshot comes from. */
export interface SnapshotSource {
  /** Begins one; `chunks` end with its hash. */
  take<T>(use: (endpoint: string, chunks: AsyncIterable<Uint8Array>) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * The etcd of a running cluster: a member that does not lead where there is one, else the leader. The role
 * `os:etcd:backup` is enough.
 */
export function etcdSource(endpoints: readonly string[], credentials: Credentials): SnapshotSource {
  return {
    async take(use, signal) {
      const call = signal === undefined ? {} : { signal };
      const asked = await Promise.all(
        endpoints.map(async (endpoint) => {
          const client = connect(endpoint, { kind: "mtls", credentials });
          try {
            return { endpoint, status: await client.etcdStatus(call) };
          } catch (error) {
            return { endpoint, failure: TalosError.from(error) };
          } finally {
            client.close();
          }
        }),
      );
      const able = asked.filter(
        ({ status }) =>
          status !== undefined && !status.learner && status.errors.length === 0 && status.leaderId !== "0",
      );
      const chosen = able.find(({ status }) => status?.leaderId !== status?.memberId) ?? able[0];
      if (chosen === undefined) {
        const reasons = asked.map(
          ({ endpoint, failure }) => `${endpoint}: ${failure?.message ?? "its etcd is not healthy"}`,
        );
        const fatal = asked.find(({ failure }) => failure !== undefined && !failure.retryable)?.failure;
        throw new TalosError(
          fatal?.code ?? "unavailable",
          `no control plane has a healthy etcd to take a snapshot from: ${reasons.join("; ")}`,
        );
      }
      const client = connect(chosen.endpoint, { kind: "mtls", credentials });
      try {
        return await use(chosen.endpoint, client.etcdSnapshot(call));
      } finally {
        client.close();
      }
    },
  };
}
