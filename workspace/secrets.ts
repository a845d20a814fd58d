// SPDX-License-Identifier: Apache-2.0
import { isAbsolute, join } from "node:path";
import { inClusterAccess, keptSecret } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import {
  bundleFile,
  type EnsureOptions,
  ensureStored,
  findStored,
  generateThrowawaySecrets,
  type KeptSecret,
  protectionOf,
  type SecretsBundle,
  type SecretsStore,
  secretsStore,
  storeOfFile,
} from "../talos/secrets/index.ts";
import { type Contract, contractOf } from "../talos/version/index.ts";
import type { EnvironmentOnDisk, WorkspaceContext } from "./context.ts";

/**
 * The Secret with an environment's bundle and client files, for a process that runs in a cluster and is told to keep them
 * there: by its context, or by TALOSMITH_KUBERNETES_SECRETS, which is what the names of these Secrets begin with.
 * Undefined: they are files.
 */
export function environmentSecret(
  environment: string,
  { env, keptSecret: kept }: Pick<WorkspaceContext, "env" | "keptSecret">,
): KeptSecret | undefined {
  if (kept !== undefined) return kept(environment);
  const prefix = env.TALOSMITH_KUBERNETES_SECRETS;
  if (!prefix) return undefined;
  return keptSecret(() => inClusterAccess(env), `${prefix}${environment}`);
}

export interface PlacedStore {
  readonly store: SecretsStore;
  /** Where that is, for a person. */
  readonly place: string;
  /** In a Secret beside this process. */
  readonly inCluster: boolean;
}

/** The secrets of an environment's cluster: in the file that it names, or in a cluster in its Secret. */
export class EnvironmentSecrets {
  readonly #environment: Environment;
  readonly #context: WorkspaceContext;
  readonly file: string;
  #found: Promise<SecretsBundle | undefined> | undefined;

  constructor({ root, environment, context }: EnvironmentOnDisk) {
    this.#environment = environment;
    this.#context = context;
    const { file } = environment.secrets;
    this.file = isAbsolute(file) ? file : join(root, file);
  }

  /** Undefined when they are not there yet. Read and decrypted once. */
  async find(): Promise<SecretsBundle | undefined> {
    this.#found ??= this.readAgain();
    const kept = this.#found;
    // What is not there now may be made later in the same run.
    const forget = () => {
      if (this.#found === kept) this.#found = undefined;
    };
    const found = await kept.catch((error) => {
      forget();
      throw error;
    });
    if (found === undefined) forget();
    return found;
  }

  /** What is stored now, whatever was read before: under a lock another process may have changed it. */
  readAgain(): Promise<SecretsBundle | undefined> {
    return findStored(this.#store().store);
  }

  /** Made at the first call. Of two first calls at once one wins, and both use its bundle. */
  async ensure(): Promise<SecretsBundle> {
    const { env, clock, entropy } = this.#context;
    const throwaway = this.#environment.kind === "simulated";
    const how = { contract: this.#contract, clock, entropy, env, throwaway };
    const ensured = await ensureStored({ ...this.#store(), ...how });
    this.#found = Promise.resolve(ensured);
    return ensured;
  }

  /** Secrets to look ahead with: the cluster's, or some that are thrown away when it has none yet. */
  async forPlan(): Promise<SecretsBundle> {
    const { clock, entropy } = this.#context;
    return (await this.find()) ?? generateThrowawaySecrets({ contract: this.#contract, clock, entropy });
  }

  /** The store of a bundle that is there, to put another one in its place. `recipients` are for a file of age. */
  async present(recipients: readonly string[]): Promise<PlacedStore> {
    const kept = this.#kept();
    if (kept !== undefined) return kept;
    if ((await protectionOf(this.file)) === "age" && recipients.length === 0)
      throw new TalosError("invalid-input", `${this.file} is encrypted with age, and does not tell for whom`, {
        hint: "Name everybody who shall open it: --age-recipient age1…",
      });
    const store = await storeOfFile(this.file, this.#context.env, recipients);
    return { store, place: this.#environment.secrets.file, inCluster: false };
  }

  /** There are machines, and the key to them is lost, or never was. `hint` says what can be done about it. */
  lost(hint: string): TalosError {
    const message = `${this.#environment.name} has machines, but no secrets: ${this.file}`;
    return new TalosError("not-found", message, { hint });
  }

  #store(): Pick<EnsureOptions, "store" | "file"> {
    const kept = this.#kept();
    if (kept !== undefined) return kept;
    return { file: this.file, store: bundleFile({ path: this.file }, this.#context.env) };
  }

  #kept(): PlacedStore | undefined {
    const { name, joins } = this.#environment;
    const secret = environmentSecret(joins?.name ?? name, this.#context);
    if (secret === undefined) return undefined;
    return { store: secretsStore({ kind: "kubernetes", secret }), place: secret.place, inCluster: true };
  }

  get #contract(): Contract {
    return contractOf(this.#environment.cluster);
  }
}
