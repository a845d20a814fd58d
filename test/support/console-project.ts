// SPDX-License-Identifier: Apache-2.0
import { loadEnvironment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { ConsoleProject } from "../../web/server/index.ts";

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
    plan: async () => [{ id: "create/local-cp-1", sentence: "create machine local-cp-1", destructive: false }],
    perform: async () => undefined,
    disturb: async () => {},
    createSimulated: async () => {},
    ...more,
  };
}
