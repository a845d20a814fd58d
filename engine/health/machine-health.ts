// SPDX-License-Identifier: Apache-2.0

import type { TalosClient } from "../../talos/api/index.ts";
import { given } from "../../talos/given.ts";
import { undefinedIf } from "../failures.ts";
import type { MachineHealth, MachineTarget } from "../machines.ts";

/** Older machines do not know every question; what they cannot tell is not held against them. */
const unknown = undefinedIf("unimplemented");

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
    client.memoryTotal(options).catch(unknown),
    client.volumeSizes(options).catch(unknown),
    client.diagnostics(options).catch(unknown),
    machine.role === "controlplane" ? client.staticPods(options) : [],
  ]);
  return {
    services: new Map(services.map(({ id, state, healthy, message }) => [id, { state, healthy, message }])),
    ...given({ memory }),
    volumes: volumes ?? new Map(),
    inContainer: version.platform === "container",
    diagnostics: diagnostics ?? [],
    staticPods,
  };
}
