// SPDX-License-Identifier: Apache-2.0
import { isAbsolute, join } from "node:path";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { createSecretsFile, generateSecrets, openSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";

export function secretsFile(root: string, environment: Environment): string {
  const { file } = environment.secrets;
  return isAbsolute(file) ? file : join(root, file);
}

/** The cluster's secrets, or undefined when the file is not there yet. */
export async function findSecrets(
  root: string,
  environment: Environment,
  { env }: Pick<CommandContext, "env">,
): Promise<SecretsBundle | undefined> {
  try {
    return await openSecrets(secretsFile(root, environment), env);
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return undefined;
    throw error;
  }
}

/** Secrets to look ahead with: the cluster's, or some that are thrown away when it has none yet. */
export async function secretsForPlan(
  root: string,
  environment: Environment,
  context: CommandContext,
): Promise<SecretsBundle> {
  return (await findSecrets(root, environment, context)) ?? freshSecrets(environment, context);
}

function freshSecrets(environment: Environment, { clock, entropy }: CommandContext): Promise<SecretsBundle> {
  const { contract } = TalosVersion.parse(environment.cluster.talosVersion);
  return generateSecrets({ contract, clock, entropy });
}

/** The cluster's secrets; made at the first call. Of two first calls at once one wins, and both use its bundle. */
export async function ensureSecrets(
  root: string,
  environment: Environment,
  context: CommandContext,
): Promise<SecretsBundle> {
  const { env } = context;
  const found = await findSecrets(root, environment, context);
  if (found !== undefined) return found;
  const made = await freshSecrets(environment, context);
  try {
    await createSecretsFile(secretsFile(root, environment), made);
    return made;
  } catch (error) {
    if (error instanceof TalosError && error.code === "already-exists") {
      return openSecrets(secretsFile(root, environment), env);
    }
    throw error;
  }
}
