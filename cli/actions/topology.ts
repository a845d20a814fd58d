// SPDX-License-Identifier: Apache-2.0
import { previewCluster } from "../../talos/cluster/index.ts";
import { loadEnvironment } from "../../talos/environment/index.ts";
import {
  renderTopology,
  type SeenMachine,
  type TopologyFormat,
  topologyOf,
  withLiveState,
} from "../../topology/index.ts";
import type { CommandContext } from "../context.ts";
import { openCluster } from "../helper/open-cluster.ts";
import { projectRoot } from "../project-root.ts";
import { type MachineStatus, machineStatus } from "./status.ts";

export async function topology(
  name: string,
  { format, live }: { format: TopologyFormat; live: boolean },
  context: CommandContext,
): Promise<void> {
  const planned = topologyOf(loadEnvironment(projectRoot(context.cwd, context.env), name));
  const shown = live ? withLiveState(planned, await seenMachines(name, context)) : planned;
  context.stdout.write(renderTopology(shown, format));
}

async function seenMachines(name: string, context: CommandContext): Promise<ReadonlyMap<string, SeenMachine>> {
  const { desired, secrets } = await openCluster(name, context);
  const { observed } = await previewCluster({ desired, secrets, signal: context.signal });
  return new Map(desired.machines.map((machine) => [machine.name, seen(machineStatus(machine.name, observed))]));
}

function seen({ stage, ready, address, talos }: MachineStatus): SeenMachine {
  if (stage === "unreachable" || stage === "foreign") return { state: "unreachable", address, note: stage };
  if (stage === "maintenance") return { state: "maintenance", address, note: talos };
  return ready ? { state: "ready", address, note: talos } : { state: "starting", address, note: stage };
}
