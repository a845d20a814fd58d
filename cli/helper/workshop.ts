// SPDX-License-Identifier: Apache-2.0
import { listEnvironments, loadEnvironment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { Workshop } from "../../web/server/index.ts";
import type { CommandContext } from "../context.ts";
import { refuseOwnedByTerraform } from "../terraform/state-file.ts";
import { clientCertificates } from "./client-files.ts";
import { deployWithHelper, destroyWithHelper, planWithHelper } from "./helper-door.ts";
import { openCluster } from "./open-cluster.ts";

/** The project as the web page's server needs it. */
export function projectWorkshop(root: string, context: CommandContext): Workshop {
  return {
    environmentNames: () => listEnvironments(root),
    loadEnvironment: (name) => loadEnvironment(root, name),
    async openCluster({ name }) {
      try {
        return await openCluster(name, context);
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    clientCertificates: ({ name }) => clientCertificates(root, name),
    async obstacle(environment) {
      try {
        await refuseOwnedByTerraform(root, environment);
        return undefined;
      } catch (error) {
        const { message, hint } = TalosError.from(error);
        return [message, hint].filter((part) => part !== undefined).join(" ");
      }
    },
    async plan(environment, signal) {
      const { missing, steps } = await planWithHelper(root, environment, { ...context, signal });
      const made = missing.map((name) => ({
        id: `create/${name}`,
        sentence: `make the machine ${name}`,
        destructive: false,
      }));
      return [...made, ...steps];
    },
    async apply(environment, events, signal) {
      await deployWithHelper(root, environment, { ...context, signal }, events);
    },
    destroy: (environment, events, signal) => destroyWithHelper(root, environment, { ...context, signal }, events),
  };
}
