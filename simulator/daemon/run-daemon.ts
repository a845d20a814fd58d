// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { networksPath, readNetworks } from "../control/loopback.ts";
import { takeLock } from "../control/process-lock.ts";
import { type DaemonRecord, protocolVersion, recordFile } from "../control/protocol.ts";
import { defaultTimings, scaleTimings } from "../machine/timings.ts";
import { apiPort, kubernetesPort, startListeners } from "../network/listeners.ts";
import { Simulation } from "../simulation.ts";
import { findNetwork, freeAddress, requireAddress } from "./addresses.ts";
import { Ending, startControlServer } from "./control-server.ts";
import { type Allocate, Simulator } from "./simulator.ts";
import { keepWorld, loadWorld } from "./world-store.ts";

export interface DaemonOptions {
  readonly directory: string;
  /** Which code this is, for clients to compare. */
  readonly code: string;
  /** Ends after so long without a call to a machine or to the daemon. @default two hours */
  readonly idleTimeout?: number | undefined;
  /** How much longer than the defaults everything takes. @default 1 */
  readonly timeScale?: number | undefined;
}

const defaultIdleTimeout = 2 * 3_600_000;
/** Who deletes the directory has thrown the machines away. */
const directoryCheck = 2_000;

/** Runs the daemon until it is told to end, is idle for long, or loses its last machine. False when another one runs. */
export async function runDaemon(options: DaemonOptions): Promise<boolean> {
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!(await takeLock(directory))) return false;
  const complain = (error: unknown): void => console.error(new Date().toISOString(), error);
  const simulation = new Simulation({
    world: await loadWorld(directory),
    snapshots: join(directory, "snapshots"),
    timings: scaleTimings(defaultTimings, options.timeScale ?? 1),
  });
  const ending = new Ending(
    options.idleTimeout ?? defaultIdleTimeout,
    () => Object.keys(simulation.world.machines).length === 0,
  );
  const store = keepWorld(directory, simulation, complain);
  const listeners = startListeners(simulation, complain, () => ending.touch());
  const networks = await readNetworks(directory);
  const allocate: Allocate = async (taken) => {
    const free = freeAddress(networks, taken);
    if (free !== undefined) return requireAddress(free);
    networks.push(await findNetwork(directory, networks, [apiPort, kubernetesPort]));
    await writeFileAtomically(networksPath(directory), JSON.stringify(networks));
    return freeAddress(networks, taken) ?? `${networks.at(-1)}.2`;
  };
  const simulator = new Simulator(simulation, allocate, (id) => listeners.problemOf(id));
  await listeners.settled();

  const token = randomBytes(24).toString("base64url");
  simulation.subscribe(() => ending.touch());
  const control = await startControlServer({
    token,
    simulator,
    ending,
    settle: async () => {
      await listeners.settled();
      await store.flush();
    },
  });
  const record: DaemonRecord = {
    protocol: protocolVersion,
    pid: process.pid,
    port: control.port,
    token,
    code: options.code,
  };
  await writeFileAtomically(join(directory, recordFile), JSON.stringify(record));
  const lookAround = async (): Promise<void> => {
    if (!(await isOurs(directory, token))) ending.now();
  };
  const watch = setInterval(() => void lookAround().catch(complain), directoryCheck);
  watch.unref();
  const { removeAll } = await ending.reached;
  clearInterval(watch);
  control.close();
  simulation.close();
  await listeners.close();
  // Where the directory was deleted, nothing is kept; made anew meanwhile, it is another daemon's.
  if (!(await isOurs(directory, token))) return true;
  await store.close();
  await rm(join(directory, recordFile), { force: true });
  if (removeAll) await rm(directory, { recursive: true, force: true });
  return true;
}

async function isOurs(directory: string, token: string): Promise<boolean> {
  const record = await textIfThere(join(directory, recordFile));
  return record !== undefined && (JSON.parse(record) as DaemonRecord).token === token;
}
