// SPDX-License-Identifier: Apache-2.0
import { type MachineView, machineView, previewCluster } from "../../engine/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import {
  renderTopology,
  type SeenMachine,
  type TopologyFormat,
  topologyOf,
  withLiveState,
} from "../../model/topology/index.ts";
import { projectRoot } from "../../workspace/project.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";

export async function topology(
  name: string,
  { format, json, live }: { format: TopologyFormat; json: boolean; live: boolean },
  context: CommandContext,
): Promise<void> {
  const planned = topologyOf(loadEnvironment(projectRoot(context.cwd, context.env), name));
  const shown = live ? withLiveState(planned, await seenMachines(name, context)) : planned;
  context.stdout.write(renderTopology(shown, json ? "json" : format));
}

async function seenMachines(name: string, context: CommandContext): Promise<ReadonlyMap<string, SeenMachine>> {
  const options = await openWorkspace(name, context).engineOptions();
  const { observed } = await previewCluster(options);
  const { desired } = options;
  return new Map(desired.machines.map((machine) => [machine.name, seen(machineView(machine, observed))]));
}

function seen({ health, stage, address, talosVersion = "-" }: MachineView): SeenMachine {
  return { state: health, address, note: health === "ready" || health === "maintenance" ? talosVersion : stage };
}
