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

/** The cluster's secrets; made at the first call. Of two first calls at once one wins, and both use its bundle. */
export async function ensureSecrets(
  root: string,
  environment: Environment,
  { clock, entropy, env }: CommandContext,
): Promise<SecretsBundle> {
  const found = await findSecrets(root, environment, { env });
  if (found !== undefined) return found;
  const { contract } = TalosVersion.parse(environment.cluster.talosVersion);
  const made = await generateSecrets({ contract, clock, entropy });
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
