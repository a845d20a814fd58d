// SPDX-License-Identifier: Apache-2.0
import { type Authentication, apiPort, connectEndpoints, parseAddress } from "../api/index.ts";
import { TalosError } from "../errors.ts";
import { configuredState } from "./inspect.ts";
import type { MachineTarget } from "./machines.ts";
import type { ConfiguredMachine } from "./observed.ts";

/** Short, for whoever is not seen through the passage is asked itself afterwards. */
const deadline = 2000;

/** Looks at workers through the control planes, which hold connections to them already, instead of through one to each. */
export interface Passage {
  /** Undefined: look at the machine itself, for it is no such worker, or cannot be seen from here. */
  inspect(machine: MachineTarget, signal?: AbortSignal): Promise<ConfiguredMachine | undefined>;
  close(): void;
}

/** Undefined where there is no control plane to look through. */
export function openPassage(
  machines: readonly MachineTarget[],
  authentication: Authentication & { readonly kind: "mtls" },
): Passage | undefined {
  const controlPlanes = machines.filter(({ role }) => role === "controlplane").map(({ address }) => address);
  if (controlPlanes.length === 0) return undefined;
  const endpoints = connectEndpoints(controlPlanes, authentication);
  let passable = true;
  return {
    async inspect(machine, signal) {
      const { host, port } = parseAddress(machine.address);
      // Control planes pass calls on to the standard port only.
      if (!passable || machine.role !== "worker" || port !== apiPort) return undefined;
      const acquaintance = { client: endpoints.machine(host), boots: false };
      try {
        return await configuredState(machine, acquaintance, { deadline, ...(signal === undefined ? {} : { signal }) });
      } catch (error) {
        const ours = TalosError.from(error);
        if (ours.code === "canceled") throw ours;
        // Perhaps this worker is down, perhaps control planes know workers by other addresses: do not wait for each.
        if (ours.retryable) passable = false;
        return undefined;
      }
    },
    close: () => endpoints.close(),
  };
}
