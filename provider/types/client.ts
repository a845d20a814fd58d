// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import type { SimulatorControl } from "../../simulator/control/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { DiagnosticError } from "../framework/index.ts";

export interface ClientOptions {
  readonly root: string;
  /** Relative to the root. Null: the provider block names none. Undefined: it is not known yet. */
  readonly secretsFile: string | null | undefined;
  /** How the simulator's process is started; its directory is added. */
  readonly daemonCommand: readonly [string, ...string[]];
  /** True where nobody keeps a file that we make: on a build machine. */
  readonly unattended: boolean;
}

/** What the provider block means to the types: the secrets, the project's folder, the simulator. */
export class Client {
  readonly root: string;
  readonly #options: ClientOptions;
  #secrets: Promise<SecretsBundle | undefined> | undefined;

  constructor(options: ClientOptions) {
    this.root = options.root;
    this.#options = options;
  }

  /** A path from a configuration as a real one. */
  path(relative: string): string {
    return resolve(this.root, relative);
  }

  /** The cluster's secrets; undefined when there is no file yet, or it is not known which. Nothing is created. */
  findSecrets(): Promise<SecretsBundle | undefined> {
    this.#secrets ??= this.#read();
    return this.#secrets;
  }

  /**
   * The secrets of a cluster that exists. Its CA is in the state by fingerprint, so a lost or exchanged file is found
   * before it does harm.
   */
  async secretsOf(caFingerprint: string | null): Promise<SecretsBundle> {
    const secrets = await this.findSecrets();
    if (secrets === undefined)
      throw new DiagnosticError({
        summary: "The cluster's secrets are missing",
        detail: `The cluster was made with a secrets bundle, and ${this.#where()} is not there. Without it nobody can reach the machines. Restore the file from your backup; a new one would not fit.`,
      });
    const { caFingerprint: fingerprintOf } = await import("../../talos/secrets/index.ts");
    const found = fingerprintOf(secrets);
    if (caFingerprint !== null && found !== caFingerprint)
      throw new DiagnosticError({
        summary: "These are the secrets of another cluster",
        detail: `The cluster's CA has the fingerprint ${caFingerprint}, the one in ${this.#where()} has ${found}. Put the right file there.`,
      });
    return secrets;
  }

  /** The secrets for a new cluster: those of the file, or new ones written to it. The first writer wins. */
  async secretsForCreate(options: { readonly talosVersion: string; readonly throwaway: boolean }): Promise<SecretsBundle> {
    const found = await this.findSecrets();
    if (found !== undefined) return found;
    const file = this.#file();
    if (this.#options.unattended && !options.throwaway)
      throw new DiagnosticError({
        summary: "Secrets would be lost with this machine",
        detail: `${file} is not there, and this looks like a build machine (CI is set). Make the file where you keep it, with: talosmith gen secrets --output-file ${file}`,
      });
    const [{ createSecretsFile, generateSecrets, readSecretsFile }, { TalosVersion }, { systemClock, systemEntropy }] =
      await Promise.all([
        import("../../talos/secrets/index.ts"),
        import("../../talos/version/index.ts"),
        import("../../talos/clock.ts"),
      ]);
    const { contract } = TalosVersion.parse(options.talosVersion);
    const fresh = await generateSecrets({ contract, clock: systemClock, entropy: systemEntropy });
    try {
      await createSecretsFile(file, fresh);
      this.#secrets = Promise.resolve(fresh);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "already-exists") throw error;
      this.#secrets = readSecretsFile(file);
    }
    return (await this.#secrets) ?? fresh;
  }

  async simulator(): Promise<SimulatorControl> {
    const { simulatorAt } = await import("../../simulator/control/index.ts");
    return simulatorAt(this.path("generated/.simulator"), { daemonCommand: this.#options.daemonCommand });
  }

  async #read(): Promise<SecretsBundle | undefined> {
    if (this.#options.secretsFile === null || this.#options.secretsFile === undefined) return undefined;
    const { readSecretsFile } = await import("../../talos/secrets/index.ts");
    try {
      return await readSecretsFile(this.#file());
    } catch (error) {
      if ((error as { code?: unknown }).code === "not-found") return undefined;
      throw error;
    }
  }

  #file(): string {
    const { secretsFile } = this.#options;
    if (typeof secretsFile === "string") return this.path(secretsFile);
    throw new DiagnosticError({
      summary: "No secrets file",
      detail: "The provider block has no secrets_file. Name the file that holds, or shall hold, the cluster's secrets.",
    });
  }

  #where(): string {
    return typeof this.#options.secretsFile === "string" ? this.#file() : "the provider's secrets_file";
  }
}
