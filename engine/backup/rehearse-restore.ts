// SPDX-License-Identifier: Apache-2.0
import { connect } from "../../talos/api/index.ts";
import type { Clock, Entropy } from "../../talos/clock.ts";
import { issueAdminCredentials } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import {
  bootstrapTarget,
  type DesiredCluster,
  type EventListener,
  readSnapshot,
  SnapshotCheck,
  type Timing,
  talosMachines,
  waitUntil,
} from "../index.ts";
import { ScratchFile } from "./scratch-file.ts";
import { databaseStatus, type SnapshotStatus } from "./snapshot-status.ts";

export interface RehearsalOptions {
  /** A throwaway cluster of one control plane in maintenance mode. */
  readonly desired: DesiredCluster;
  readonly secrets: SecretsBundle;
  /** Path of the snapshot. */
  readonly snapshot: string;
  readonly events?: EventListener;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly timing: Timing;
  readonly signal?: AbortSignal;
}

const patience = 60_000;
const hour = 3_600_000;

/**
 * Restores a snapshot onto a throwaway machine and reads back what its etcd then holds. Kubernetes is kept from
 * starting, because its first writes would change what is to be compared.
 */
export async function rehearseRestore(options: RehearsalOptions): Promise<SnapshotStatus> {
  const { desired, secrets, snapshot, timing, signal, events } = options;
  const name = bootstrapTarget(desired);
  const machine = desired.machines.find((candidate) => candidate.name === name);
  if (machine === undefined) throw new TalosError("internal", `no machine ${name}`);
  const machines = talosMachines({ desired, secrets, clock: options.clock, entropy: options.entropy });
  const issued = issueAdminCredentials(secrets, { clock: options.clock, entropy: options.entropy, ttl: hour });
  const credentials = { ca: secrets.certs.os.certificate, certificate: issued.certificate, key: issued.key };
  const client = connect(machine.address, { kind: "mtls", credentials });
  const call = signal === undefined ? {} : { signal };
  const tell = (message: string) =>
    events?.({ type: "step-finished", at: new Date(timing.now()), message, machine: name });
  const until = (what: string, check: () => Promise<string | undefined>) =>
    waitUntil(check, { timing, timeout: patience, what, machine: name, ...call });
  try {
    await until("give the machine its config", async () => {
      const state = await machines.inspect(machine, signal);
      if (state.kind === "maintenance") await machines.install(machine, machine.config, signal);
      if (state.kind === "configured" && state.etcd?.state === "waiting") return undefined;
      return "its etcd does not wait to be started yet";
    });
    await client.service("kubelet", "stop", call);
    tell("a machine waits for its etcd");
    await machines.restore(machine, readSnapshot(snapshot), signal);
    await until("start etcd from the backup", async () => {
      const state = await machines.inspect(machine, signal);
      if (state.kind === "configured" && state.etcd?.state === "running" && state.etcd.healthy) return undefined;
      return "its etcd does not run yet";
    });
    tell("etcd runs from the backup");
    return await statusOf(client.etcdSnapshot(call));
  } finally {
    client.close();
    machines.close();
  }
}

async function statusOf(chunks: AsyncIterable<Uint8Array>): Promise<SnapshotStatus> {
  const file = await ScratchFile.nameless();
  try {
    const check = new SnapshotCheck();
    await file.receive(chunks, (chunk) => check.add(chunk));
    const what = "what the restored etcd holds";
    return { ...check.finish(what), ...(await databaseStatus(file.handle, what)) };
  } finally {
    await file.discard();
  }
}
