// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import type { SimulatorControl } from "../../simulator/control/index.ts";
import type { OperationClock } from "../framework/index.ts";
import type { ClusterSecrets } from "./cluster-secrets.ts";

export interface ClientOptions {
  readonly root: string;
  readonly secrets: ClusterSecrets;
  /** Which state this is, of all that could hold the same cluster. */
  readonly owner?: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** How the simulator's process is started; its directory is added. */
  readonly daemonCommand: readonly [string, ...string[]];
}

/** What the provider block means to the types: the secrets, the project's folder, the simulator. */
export class Client {
  readonly root: string;
  readonly secrets: ClusterSecrets;
  /** Which state this is, of all that could hold the same cluster; undefined where the provider block does not tell. */
  readonly owner: string | undefined;
  /** Of the process, for the programs that it starts. */
  readonly environment: NodeJS.ProcessEnv;
  readonly #daemonCommand: readonly [string, ...string[]];
  readonly #ended = new Set<string>();
  readonly #left = new Set<string>();
  readonly #texts = new Map<string, Promise<string>>();
  #simulator: Promise<SimulatorControl> | undefined;
  #turns: Promise<unknown> = Promise.resolve();

  constructor({ root, secrets, owner, environment, daemonCommand }: ClientOptions) {
    this.root = root;
    this.secrets = secrets;
    this.owner = owner;
    this.environment = environment;
    this.#daemonCommand = daemonCommand;
  }

  /** A path from a configuration as a real one. */
  path(relative: string): string {
    return resolve(this.root, relative);
  }

  /**
   * What a file holds that may be encrypted with age or SOPS. It is opened once: a hundred machines may share it, and
   * what is compared must be what is used.
   */
  sealedText(relative: string): Promise<string> {
    const path = this.path(relative);
    const text = this.#texts.get(path) ?? this.#open(path);
    this.#texts.set(path, text);
    // What is not there now may be made later in the same run.
    text.catch(() => this.#texts.delete(path));
    return text;
  }

  async #open(path: string): Promise<string> {
    const { openProtectedText } = await import("../../talos/secrets/index.ts");
    return openProtectedText(path, this.environment);
  }

  /** Notes that this run has taken the whole cluster down: nobody is left whom its machines could be reached through. */
  ended(cluster: string): void {
    this.#ended.add(cluster);
  }

  hasEnded(cluster: string): boolean {
    return this.#ended.has(cluster);
  }

  /** Notes that a member has left in this run, or what kept it from that was told: the cluster need not look for it. */
  left(cluster: string, machine: string): void {
    this.#left.add(`${cluster}/${machine}`);
  }

  hasLeft(cluster: string, machine: string): boolean {
    return this.#left.has(`${cluster}/${machine}`);
  }

  /** Runs work of which only one at a time may be under way. Its time begins with its turn. */
  inTurn<T>(clock: OperationClock, work: () => Promise<T>): Promise<T> {
    clock.stop();
    const turn = this.#turns.then(() => {
      clock.restart();
      return work();
    });
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  simulator(): Promise<SimulatorControl> {
    this.#simulator ??= this.simulatorIn(this.path("generated/.simulator"));
    return this.#simulator;
  }

  /** A simulator of its own in a folder. Whoever asks for it shuts it down. */
  async simulatorIn(folder: string): Promise<SimulatorControl> {
    const { simulatorAt } = await import("../../simulator/control/index.ts");
    return simulatorAt(folder, { daemonCommand: this.#daemonCommand });
  }

  /** Before work on machines: if they are simulated, their simulator runs, and is started again when it is killed. */
  async keepSimulator(addresses: readonly string[]): Promise<void> {
    if (addresses.some((address) => address.startsWith("127."))) await (await this.simulator()).listMachines();
  }
}
