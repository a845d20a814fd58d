// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type ChannelCredentials, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import {
  findNetwork,
  freeAddress,
  type Listeners,
  type Machine,
  Simulation,
  type SimulationOptions,
  Simulator,
  startListeners,
} from "../../simulator/index.ts";
import { StateClient } from "../../talos/api/gen/cosi/resource.ts";
import { ApplyConfigurationRequest, MachineServiceClient } from "../../talos/api/gen/machine/machine.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { generateMachineConfig, issueAdminCredentials, type Role } from "../../talos/config/index.ts";
import { type KeyPair, keyForNode } from "../../talos/pki/index.ts";
import { parseSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { defaultTalosVersion } from "../../talos/version/index.ts";

const secretsFile = new URL("../golden/secrets/secrets-v1.13.yaml", import.meta.url);

export const secrets: SecretsBundle = parseSecrets(readFileSync(secretsFile, "utf8"), "1.13.yaml");

/** A config for one machine, from the golden secrets. */
export function configFor(
  type: "controlplane" | "worker",
  endpoint: string,
  hostname: string,
  patches: string[] = [],
): string {
  const cluster = {
    clusterName: "lab",
    endpoint: `https://${endpoint}:6443`,
    talosVersion: defaultTalosVersion,
    kubernetesVersion: defaultTalosVersion.defaultKubernetesVersion,
  };
  return generateMachineConfig(cluster, secrets, { type, hostname, patches });
}

export function clientPair(roles: readonly Role[] = ["os:admin"]): KeyPair {
  return issueAdminCredentials(secrets, { roles, clock: systemClock, entropy: systemEntropy });
}

const admin = clientPair();

export function mutual(pair: KeyPair = admin): ChannelCredentials {
  return credentials.createSsl(
    Buffer.from(secrets.certs.os.certificate),
    Buffer.from(keyForNode(pair.key)),
    Buffer.from(pair.certificate),
  );
}

const insecure = credentials.createSsl(null, null, null, {
  rejectUnauthorized: false,
  checkServerIdentity: () => undefined,
});

/** Simulated machines in this process, on real sockets, and plain grpc-js clients for them. */
export class Laboratory {
  readonly simulation: Simulation;
  readonly simulator: Simulator;
  #listeners: Listeners;
  readonly #clients: { close(): void }[] = [];
  readonly errors: unknown[] = [];

  private constructor(network: string, options: SimulationOptions) {
    this.simulation = new Simulation(options);
    this.simulator = new Simulator(this.simulation, async (taken) => freeAddress([network], taken) ?? "127.0.0.1");
    this.#listeners = startListeners(this.simulation, (error) => this.errors.push(error));
  }

  static async open(name: string, options: SimulationOptions = {}): Promise<Laboratory> {
    return new Laboratory(await findNetwork(`${process.pid}/${name}`, [], [50_000, 6_443]), options);
  }

  settled(): Promise<void> {
    return this.#listeners.settled();
  }

  /** The same machines on new sockets, as when their process was started again. */
  async reopen(): Promise<void> {
    await this.#listeners.close();
    this.#listeners = startListeners(this.simulation, (error) => this.errors.push(error));
    await this.settled();
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    this.simulation.close();
    await this.#listeners.close();
    if (this.errors.length > 0) throw new Error(`the simulator complained: ${String(this.errors[0])}`);
  }

  /** Makes a machine and waits until it listens in maintenance mode. */
  async machine(name: string, talosVersion?: string): Promise<Machine> {
    const { id } = await this.simulator.createMachine({
      name,
      cluster: "lab",
      ...(talosVersion === undefined ? {} : { talosVersion }),
    });
    await this.settled();
    return this.now(id);
  }

  now(id: string): Machine {
    const machine = this.simulation.world.machines[id];
    if (machine === undefined) throw new Error(`no machine ${id}`);
    return machine;
  }

  machineApi(address: string, channel: ChannelCredentials = mutual()): MachineServiceClient {
    const client = new MachineServiceClient(`${address}:50000`, channel);
    this.#clients.push(client);
    return client;
  }

  stateApi(address: string, channel: ChannelCredentials = mutual()): StateClient {
    const client = new StateClient(`${address}:50000`, channel);
    this.#clients.push(client);
    return client;
  }

  maintenanceApi(address: string): MachineServiceClient {
    return this.machineApi(address, insecure);
  }

  maintenanceState(address: string): StateClient {
    return this.stateApi(address, insecure);
  }

  async apply(machine: Machine, text: string): Promise<void> {
    const request = ApplyConfigurationRequest.fromPartial({ data: Buffer.from(text), mode: 1 });
    await unary((done) => this.maintenanceApi(machine.address).applyConfiguration(request, done));
  }

  /** Resolves when the machine's stage is this one and its sockets follow. */
  async reach(machine: Machine, stage: string, seconds = 15): Promise<void> {
    const signal = AbortSignal.timeout(seconds * 1_000);
    const held = await this.simulation.until((world) => {
      const current = world.machines[machine.id];
      const listens = stage !== "maintenance" || current?.services.apid?.stage === "Running";
      return current?.life.stage === stage && listens;
    }, signal);
    if (!held) throw new Error(`${machine.name} is ${this.now(machine.id).life.stage}, not ${stage}`);
    await this.settled();
  }

  async ready(...machines: readonly Machine[]): Promise<void> {
    for (const { id, name } of machines) {
      const signal = AbortSignal.timeout(15_000);
      const held = await this.simulation.until(() => this.simulator.getMachine(id)?.ready === true, signal);
      if (!held) throw new Error(`${name} did not become ready: ${JSON.stringify(this.now(id).life)}`);
    }
    await this.settled();
  }

  /** Control planes and workers, from nothing to ready. The first control plane's address is the endpoint. */
  async cluster(controlPlanes: number, workers: number): Promise<Machine[]> {
    const names = [
      ...Array.from({ length: controlPlanes }, (_, index) => `cp-${index + 1}`),
      ...Array.from({ length: workers }, (_, index) => `w-${index + 1}`),
    ];
    const machines = await Promise.all(names.map((name) => this.machine(name)));
    const endpoint = machines[0]?.address ?? "127.0.0.1";
    await Promise.all(
      machines.map((machine) =>
        this.apply(
          machine,
          configFor(machine.name.startsWith("cp-") ? "controlplane" : "worker", endpoint, machine.name),
        ),
      ),
    );
    const [first] = machines;
    if (first === undefined) return [];
    await this.simulation.until((world) => world.machines[first.id]?.services.cri?.health === "healthy");
    await this.settled();
    await unary((done) =>
      this.machineApi(first.address).bootstrap({ recoverEtcd: false, recoverSkipHashCheck: false }, done),
    );
    await this.ready(...machines);
    return machines;
  }
}

/** A unary call as a promise. */
export function unary<T>(call: (done: (error: ServiceError | null, reply: T) => void) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, reply) => (error === null ? resolve(reply) : reject(error)));
  });
}

/** Everything that a stream says until its end. */
export async function collect<T>(stream: AsyncIterable<unknown>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item as T);
  return items;
}

export function metadataOf(values: Readonly<Record<string, readonly string[]>>): Metadata {
  const metadata = new Metadata();
  for (const [name, list] of Object.entries(values)) for (const value of list) metadata.add(name, value);
  return metadata;
}

/** The one file in a gzipped tar without end-of-archive blocks. */
export function untar(bytes: Uint8Array): { name: string; content: string } {
  const archive = gunzipSync(bytes);
  const name = archive.subarray(0, 100).toString("latin1").replace(/\0.*$/s, "");
  const size = Number.parseInt(archive.subarray(124, 135).toString("latin1"), 8);
  return { name, content: archive.subarray(512, 512 + size).toString("utf8") };
}
