// SPDX-License-Identifier: Apache-2.0
import { connect } from "../../talos/api/index.ts";
import type { Clock, Entropy } from "../../talos/clock.ts";
import { TalosError } from "../../talos/errors.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import {
  bootstrapTarget,
  type DesiredCluster,
  type EventListener,
  readSnapshot,
  type Timing,
  talosMachines,
  waitUntil,
} from "../index.ts";
import { talosCredentials } from "../observe/credentials.ts";
import { ScratchFile } from "./scratch-file.ts";
import { receiveSnapshot, type SnapshotStatus } from "./snapshot-status.ts";

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
  const credentials = talosCredentials(secrets, options);
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
    const file = await ScratchFile.nameless();
    try {
      return await receiveSnapshot(file, client.etcdSnapshot(call), "what the restored etcd holds");
    } finally {
      await file.discard();
    }
  } finally {
    client.close();
    machines.close();
  }
}
