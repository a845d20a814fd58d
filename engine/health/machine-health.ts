// SPDX-License-Identifier: Apache-2.0
import type { TalosClient } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import type { MachineHealth, MachineTarget } from "../machines.ts";

/** Asks a running machine everything that the health checks want to know, all at once. */
export async function machineHealth(
  machine: MachineTarget,
  client: TalosClient,
  signal?: AbortSignal,
): Promise<MachineHealth> {
  const options = signal === undefined ? {} : { signal };
  const [version, services, memory, volumes, diagnostics, staticPods] = await Promise.all([
    client.version(options),
    client.serviceList(options),
    client.memoryTotal(options).catch(orWithout(undefined)),
    client.volumeSizes(options).catch(orWithout(new Map<string, bigint>())),
    client.diagnostics(options).catch(orWithout([])),
    machine.role === "controlplane" ? client.staticPods(options) : [],
  ]);
  return {
    services: new Map(services.map(({ id, state, healthy, message }) => [id, { state, healthy, message }])),
    ...given({ memory }),
    volumes,
    inContainer: version.platform === "container",
    diagnostics,
    staticPods,
  };
}

/** Older machines do not know every question; what they cannot tell is not held against them. */
function orWithout<T>(nothing: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof TalosError && error.code === "unimplemented") return nothing;
    throw error;
  };
}
