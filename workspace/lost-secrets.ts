// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../model/index.ts";
import { configuredMachines } from "./configured-machines.ts";
import type { WorkspaceContext } from "./context.ts";
import { hasMachines } from "./machines.ts";
import { findSecrets, secretsLost } from "./secrets.ts";

/**
 * Refuses to go on without the secrets file where machines run with the secrets that were in it: new secrets would not
 * fit them. Machines in maintenance mode need none.
 */
export async function refuseLostSecrets(
  root: string,
  environment: Environment,
  context: WorkspaceContext,
): Promise<void> {
  if ((await findSecrets(root, environment, context)) !== undefined) return;
  // A machine that was in the cluster and does not answer may have its config.
  const unreachable = await hasMachines(root, environment);
  const configured = await configuredMachines(root, environment, { unreachable, signal: context.signal });
  if (configured.length === 0) return;
  const hint = `${configured.join(", ")}: restore the file from your backup. New secrets would not fit: they are made only for machines in maintenance mode.`;
  throw secretsLost(root, environment, hint);
}
