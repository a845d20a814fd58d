// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Addon, type AddonOptions, findHelm, resolveAddon } from "../engine/addon/index.ts";
import { type AddonPlan, addonsOf, type Environment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { clientFiles } from "./client-files.ts";
import type { WorkspaceContext } from "./context.ts";

/** The add-ons of an environment, with all that they name read. Throws before anything is changed, also without helm. */
export async function readAddons(
  root: string,
  environment: Environment,
  { env }: Pick<WorkspaceContext, "env">,
): Promise<readonly Addon[]> {
  const plans = addonsOf(environment);
  if (plans.length > 0) findHelm(env);
  return Promise.all(plans.map((plan) => readAddon(plan, root, env)));
}

function readAddon({ values, ...plan }: AddonPlan, root: string, env: WorkspaceContext["env"]): Promise<Addon> {
  return resolveAddon({ ...plan, values: [values] }, root, env);
}

/** Helm on the cluster of the last deploy. */
export function addonAccess(root: string, environment: string, context: WorkspaceContext): AddonOptions {
  const { kubeconfig } = clientFiles(environment);
  if (!existsSync(join(root, kubeconfig))) {
    throw new TalosError("not-found", `there is no ${kubeconfig}`, {
      hint: `Deploy it: talosmith deploy ${environment}. If it is deployed: talosmith kubeconfig ${environment}`,
    });
  }
  return { helm: findHelm(context.env), kubeconfig: join(root, kubeconfig), signal: context.signal };
}
