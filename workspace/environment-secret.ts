// SPDX-License-Identifier: Apache-2.0
import { inClusterAccess, keptSecret } from "../engine/index.ts";
import type { KeptSecret } from "../talos/secrets/index.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The Secret with an environment's bundle and client files, for a process that runs in a cluster and is told to keep them
 * there: TALOSMITH_KUBERNETES_SECRETS is what the names of these Secrets begin with. Undefined: they are files.
 */
export function environmentSecret(environment: string, env: Env): KeptSecret | undefined {
  const prefix = env.TALOSMITH_KUBERNETES_SECRETS;
  if (!prefix) return undefined;
  return keptSecret(() => inClusterAccess(env), `${prefix}${environment}`);
}
