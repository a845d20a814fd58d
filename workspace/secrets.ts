// SPDX-License-Identifier: Apache-2.0
import { isAbsolute, join } from "node:path";
import type { Environment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import {
  type EnsureOptions,
  ensureStored,
  findStored,
  generateSecrets,
  openSecrets,
  protectionByName,
  protectionOf,
  type SecretsBundle,
  type SecretsStore,
  secretsStore,
  storeOfFile,
} from "../talos/secrets/index.ts";
import { type Contract, TalosVersion } from "../talos/version/index.ts";
import type { WorkspaceContext } from "./context.ts";
import { environmentSecret } from "./environment-secret.ts";

export function secretsFile(root: string, environment: Environment): string {
  const { file } = environment.secrets;
  return isAbsolute(file) ? file : join(root, file);
}

/** Where the bundle is: the file that the environment names, or in a cluster its Secret. */
function storeOf(
  root: string,
  environment: Environment,
  env: WorkspaceContext["env"],
): Pick<EnsureOptions, "store" | "file"> {
  const kept = keptStoreOf(environment, env);
  if (kept !== undefined) return kept;
  const file = secretsFile(root, environment);
  const create: SecretsStore["create"] = (bundle, how) =>
    secretsStore({ kind: protectionByName(file), path: file }).create(bundle, how);
  return { file, store: { read: () => openSecrets(file, env), create } };
}

function keptStoreOf(environment: Environment, env: WorkspaceContext["env"]): PlacedStore | undefined {
  const secret = environmentSecret(environment.joins?.name ?? environment.name, env);
  if (secret === undefined) return undefined;
  return { store: secretsStore({ kind: "kubernetes", secret }), place: secret.place, inCluster: true };
}

export interface PlacedStore {
  readonly store: SecretsStore;
  /** Where that is, for a person. */
  readonly place: string;
  /** In a Secret beside this process. */
  readonly inCluster: boolean;
}

/** The store of a bundle that is there, to put another one in its place. `recipients` are for a file of age. */
export async function presentStore(
  root: string,
  environment: Environment,
  recipients: readonly string[],
  { env }: Pick<WorkspaceContext, "env">,
): Promise<PlacedStore> {
  const kept = keptStoreOf(environment, env);
  if (kept !== undefined) return kept;
  const path = secretsFile(root, environment);
  if ((await protectionOf(path)) === "age" && recipients.length === 0)
    throw new TalosError("invalid-input", `${path} is encrypted with age, and does not tell for whom`, {
      hint: "Name everybody who shall open it: --age-recipient age1…",
    });
  return { store: await storeOfFile(path, env, recipients), place: environment.secrets.file, inCluster: false };
}

/** The cluster's secrets, or undefined when the file is not there yet. */
export function findSecrets(
  root: string,
  environment: Environment,
  { env }: Pick<WorkspaceContext, "env">,
): Promise<SecretsBundle | undefined> {
  return findStored(storeOf(root, environment, env).store);
}

/** There are machines, and the key to them is lost, or never was. `hint` says what can be done about it. */
export function secretsLost(root: string, environment: Environment, hint: string): TalosError {
  const message = `${environment.name} has machines, but no secrets: ${secretsFile(root, environment)}`;
  return new TalosError("not-found", message, { hint });
}

/** Secrets to look ahead with: the cluster's, or some that are thrown away when it has none yet. */
export async function secretsForPlan(
  root: string,
  environment: Environment,
  context: WorkspaceContext,
): Promise<SecretsBundle> {
  return (await findSecrets(root, environment, context)) ?? freshSecrets(environment, context);
}

function freshSecrets(environment: Environment, { clock, entropy }: WorkspaceContext): Promise<SecretsBundle> {
  return generateSecrets({ contract: contractOf(environment), clock, entropy });
}

function contractOf({ cluster }: Environment): Contract {
  return TalosVersion.parse(cluster.talosVersion).contract;
}

/** The cluster's secrets; made at the first call. Of two first calls at once one wins, and both use its bundle. */
export function ensureSecrets(
  root: string,
  environment: Environment,
  { env, clock, entropy }: WorkspaceContext,
): Promise<SecretsBundle> {
  const throwaway = environment.kind === "simulated";
  const how = { contract: contractOf(environment), clock, entropy, env, throwaway };
  return ensureStored({ ...storeOf(root, environment, env), ...how });
}
