// SPDX-License-Identifier: Apache-2.0
import { runsWithoutTerraform } from "./machine-source.ts";
import { notDeployed } from "./project.ts";
import { recordedSpec } from "./terraform/recorded-spec.ts";
import type { Workspace } from "./workspace.ts";

/** Where the machines of a deployed environment are, by their names. Its secrets are not needed. */
export async function addressesByName(workspace: Workspace): Promise<ReadonlyMap<string, string>> {
  const { name, kind } = workspace.environment;
  if (runsWithoutTerraform(kind)) {
    const found = [...(await workspace.machines.find())].map(([machine, { address }]) => [machine, address] as const);
    if (found.length === 0) throw notDeployed(name, "it has no machines");
    return new Map(found);
  }
  const spec = await recordedSpec(workspace);
  if (spec === undefined) throw notDeployed(name, "its state has no cluster");
  return new Map(spec.machines.map((machine) => [machine.name, machine.address]));
}
