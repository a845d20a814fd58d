// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle, SecretsStore } from "../../talos/secrets/index.ts";
import { DiagnosticError } from "../framework/index.ts";

export type Encryption = "none" | "age" | "sops";

/** Where the provider block says that the secrets are. */
export type SecretsSource =
  | {
      readonly kind: "file";
      readonly path: string;
      /** @default by the file's name */
      readonly encryption?: Encryption | undefined;
      /** For whom a new file is encrypted with age. */
      readonly recipients: readonly string[];
    }
  /** Given as text: by another resource, an ephemeral value or the environment. */
  | { readonly kind: "text"; readonly text: string; readonly from: string }
  | { readonly kind: "none" }
  /** The provider block depends on something that is not made yet. */
  | { readonly kind: "unknown" };

export interface CreateOptions {
  readonly talosVersion?: string | undefined;
  readonly configContract?: string | undefined;
  /** Nothing of value can come of this cluster, such as one of simulated machines. */
  readonly throwaway: boolean;
}

/** A cluster's secrets. They are read at the first use, once, and never leave this object but to the engine. */
export class ClusterSecrets {
  readonly #source: SecretsSource;
  readonly #environment: NodeJS.ProcessEnv;
  #found: Promise<SecretsBundle | undefined> | undefined;

  constructor(source: SecretsSource, environment: NodeJS.ProcessEnv) {
    this.#source = source;
    this.#environment = environment;
  }

  /** Undefined when there is no file yet, or it is not known which. Nothing is created. */
  async find(): Promise<SecretsBundle | undefined> {
    this.#found ??= this.#read();
    const found = await this.#found;
    // What is not there now may be made later in the same run.
    if (found === undefined) this.#found = undefined;
    return found;
  }

  /**
   * The secrets of a cluster that exists. Its CA is in the state by fingerprint, so a lost or exchanged bundle is found
   * before it does harm.
   */
  async of(caFingerprint: string | null): Promise<SecretsBundle> {
    if (this.#source.kind === "unknown")
      throw new DiagnosticError({
        summary: "The secrets are not known yet",
        detail:
          "The provider block takes them from something that is made in this run. Add a depends_on for it, so that this comes later.",
      });
    const secrets = await this.find();
    if (secrets === undefined)
      throw new DiagnosticError({ summary: "The cluster's secrets are missing", detail: this.#lost(caFingerprint) });
    const { caFingerprint: fingerprintOf, knownFingerprints } = await import("../../talos/secrets/index.ts");
    const found = fingerprintOf(secrets);
    // CAs may have been exchanged since the state was written; the bundle knows those before.
    if (caFingerprint !== null && !knownFingerprints(secrets).includes(caFingerprint))
      throw new DiagnosticError({
        summary: "These are the secrets of another cluster",
        detail: `The cluster's CA has the fingerprint ${caFingerprint}, the one in ${this.#where} has ${found}. Put the right bundle there.`,
      });
    return secrets;
  }

  /** The secrets for a new cluster: those that are there, or new ones in a file. The first writer wins. */
  async forCreate(options: CreateOptions): Promise<SecretsBundle> {
    const found = await this.find();
    if (found !== undefined) return found;
    if (this.#source.kind !== "file") throw noSource();
    const [{ ensureStored }, { contractOf }, { systemClock, systemEntropy }] = await Promise.all([
      import("../../talos/secrets/index.ts"),
      import("../../talos/version/index.ts"),
      import("../../talos/clock.ts"),
    ]);
    const ensured = await ensureStored({
      store: await this.#store(),
      file: this.#source.path,
      throwaway: options.throwaway,
      env: this.#environment,
      contract: contractOf(options),
      clock: systemClock,
      entropy: systemEntropy,
    });
    this.#found = Promise.resolve(ensured);
    return ensured;
  }

  async #read(): Promise<SecretsBundle | undefined> {
    if (this.#source.kind === "text") {
      const { parseSecrets } = await import("../../talos/secrets/index.ts");
      return parseSecrets(this.#source.text, this.#source.from);
    }
    if (this.#source.kind !== "file") return undefined;
    const { findStored } = await import("../../talos/secrets/index.ts");
    return findStored(await this.#store());
  }

  async #store(): Promise<Pick<SecretsStore, "read" | "create">> {
    if (this.#source.kind !== "file") throw noSource();
    const { bundleFile } = await import("../../talos/secrets/index.ts");
    const { path, encryption, recipients } = this.#source;
    const protection = encryption === "none" ? "file" : encryption;
    return bundleFile({ path, protection, recipients }, this.#environment);
  }

  /** Without a fingerprint nobody knows whether there is a cluster yet. */
  #lost(caFingerprint: string | null): string {
    if (caFingerprint !== null)
      return `The cluster was made with a secrets bundle, and ${this.#where} is not there. Without it nobody can reach the machines. Restore it from your backup; a new one would not fit.`;
    const command = this.#source.kind === "file" ? `: talosmith gen secrets --output-file ${this.#source.path}` : "";
    return `${this.#where} is not there. Of a cluster that exists, restore it from your backup; a new one would not fit. For a new cluster, make it now${command}`;
  }

  get #where(): string {
    if (this.#source.kind === "file") return this.#source.path;
    return this.#source.kind === "text" ? this.#source.from : "what the provider block should name";
  }
}

function noSource(): DiagnosticError {
  return new DiagnosticError({
    summary: "No secrets",
    detail:
      "The provider block has neither secrets_file nor secrets. Name the file that holds, or shall hold, the cluster's secrets.",
  });
}
