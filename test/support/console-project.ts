// SPDX-License-Identifier: Apache-2.0
import { loadEnvironment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { ConsoleProject } from "../../web/server/index.ts";
import type { ActionPlan, PlannedStep } from "../../web/shared/wire.ts";

/** A plan of these steps, as it comes from the workspace: with the name to type where data is lost. */
export function planWith(steps: readonly PlannedStep[], more: Partial<ActionPlan> = {}): ActionPlan {
  const confirm = steps.some(({ destructive }) => destructive) ? "local" : null;
  const id = steps.map(({ sentence }) => sentence).join();
  return { id, manager: "talosmith", steps, findings: [], warnings: [], confirm, ...more };
}

/** A project with the environment local, in which nothing is deployed and everything that is done ends at once. */
export function idleProject(more: Partial<ConsoleProject> = {}): ConsoleProject {
  const undeployed = async () => {
    throw new TalosError("not-found", "local is not deployed");
  };
  return {
    environmentNames: () => ["local"],
    load: (name) => loadEnvironment(".", name),
    readConditions: async () => undefined,
    writeConditions: async () => {},
    openCluster: undeployed,
    observe: undeployed,
    backups: async () => undefined,
    forgetBackups: () => {},
    simulatedMachines: async () => undefined,
    elsewhere: async () => undefined,
    obstacle: async () => undefined,
    plan: async () => planWith([{ id: "1", sentence: "create machine local-cp-1", destructive: false }]),
    perform: async () => undefined,
    disturb: async () => {},
    createSimulated: async () => {},
    ...more,
  };
}
