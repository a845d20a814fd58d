// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Addon,
  type AddonOptions,
  applyAddons,
  findHelm,
  hasHelm,
  removeAddon,
  resolveAddon,
  surplusAddons,
} from "../engine/addon/index.ts";
import { awaitHealthy, type EventListener } from "../engine/index.ts";
import { addonsOf } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { DeployedCluster, Workspace } from "./workspace.ts";

/** The add-ons of an environment, with all that they name read. Throws before anything is changed, also without helm. */
export async function readAddons({ root, environment, context: { env } }: Workspace): Promise<readonly Addon[]> {
  const plans = addonsOf(environment);
  if (plans.length > 0) findHelm(env);
  return Promise.all(plans.map(({ values, ...plan }) => resolveAddon({ ...plan, values: [values] }, root, env)));
}

/** Whether helm has to be asked: a file without add-ons may have had some, which helm installed. */
export function mayHaveAddons(addons: readonly Addon[], { context: { env } }: Workspace): boolean {
  return addons.length > 0 || hasHelm(env);
}

/** Helm on the cluster of the last deploy. */
export function addonAccess({ root, name, clientFiles, context: { env, signal } }: Workspace): AddonOptions {
  const { kubeconfig } = clientFiles.paths;
  if (!existsSync(join(root, kubeconfig))) {
    throw new TalosError("not-found", `there is no ${kubeconfig}`, {
      hint: `Deploy it: talosmith deploy ${name}. If it is deployed: talosmith kubeconfig ${name}`,
    });
  }
  return { helm: findHelm(env), kubeconfig: join(root, kubeconfig), signal };
}

/** The add-ons, and after those that bring the pod network the health of the whole; how many have changed. */
export async function deployAddons(
  addons: readonly Addon[],
  workspace: Workspace,
  cluster: Pick<DeployedCluster, "desired" | "secrets">,
  events: EventListener,
): Promise<number> {
  if (!mayHaveAddons(addons, workspace)) return 0;
  let changed = 0;
  const access = addonAccess(workspace);
  const tell = (message: string) => events({ type: "step-finished", at: workspace.context.clock.now(), message });
  await applyAddons(addons, access, ({ name }, outcome) => {
    if (outcome === "begun") return;
    if (outcome === "changed") changed += 1;
    tell(`add-on ${name}: ${outcome === "changed" ? "applied" : "up to date"}`);
  });
  const others = workspace.context.otherReleases?.(workspace.name) ?? [];
  for (const release of await surplusAddons([...addons, ...others], access)) {
    await removeAddon(release, access);
    changed += 1;
    tell(`add-on ${release.name}: removed`);
  }
  if (workspace.environment.addons.some(({ cni }) => cni)) {
    // Until the pod network came, the nodes could not become ready; now they must.
    const desired = { ...cluster.desired, nodesBecomeReady: true };
    await awaitHealthy({ ...workspace.engineOptionsFor({ ...cluster, desired }), events });
  }
  return changed;
}
