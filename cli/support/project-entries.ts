// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkHealth, journalPath, previewCluster } from "../../engine/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import { renderTopology, topologyOf } from "../../model/topology/index.ts";
import { simulatorDirectory } from "../../workspace/simulator.ts";
import { type DeployedCluster, openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { doctorFindings } from "../actions/doctor.ts";
import { machineStatus } from "../actions/status.ts";
import type { CommandContext } from "../context.ts";
import { packageVersion } from "../package-version.ts";
import type { Entries } from "./entries.ts";

/** The end of a long file is what tells of trouble. */
const tail = 256 * 1024;

/** What the project's files and this computer tell, whether or not there is a cluster. */
export async function projectEntries(
  root: string,
  name: string,
  entries: Entries,
  context: CommandContext,
): Promise<void> {
  const { platform, arch, versions } = process;
  entries.add("versions.json", json({ talosmith: packageVersion(), node: versions.node, platform, arch }));
  await entries.collect("doctor.json", async () => json(await doctorFindings(name, context)));
  for (const file of ["base", name])
    await entries.collect(`environments/${file}.yaml`, () => endOf(join(root, "environments", `${file}.yaml`)));
  await entries.collect("topology.mmd", async () => renderTopology(topologyOf(loadEnvironment(root, name)), "mermaid"));
  await entries.collect("simulator.log", () => endOf(join(simulatorDirectory(root), "daemon.log")));
}

/** What the cluster as a whole tells. */
export async function clusterEntries({ workspace, cluster }: OpenedWorkspace, entries: Entries): Promise<void> {
  const { root, environment } = workspace;
  const { desired } = cluster;
  const options = workspace.engineOptionsFor(cluster);
  await entries.collect("conditions.json", () => endOf(join(root, "generated", environment.name, "conditions.json")));
  await entries.collect("journal.jsonl", () => endOf(join(root, journalPath(desired.name))));
  await entries.collect("status.json", async () => {
    const { observed, steps } = await previewCluster(options);
    const machines = desired.machines.map((machine) => machineStatus(machine, observed));
    return json({ endpoint: desired.endpoint, machines, pending: steps.map(({ sentence }) => sentence) });
  });
  await entries.collect("health.json", async () => json((await checkHealth({ ...options, wait: false })).checks));
}

export interface OpenedWorkspace {
  readonly workspace: Workspace;
  readonly cluster: DeployedCluster;
}

/** The cluster, or undefined with the reason in the list of what is missing. */
export async function findCluster(
  name: string,
  entries: Entries,
  context: CommandContext,
): Promise<OpenedWorkspace | undefined> {
  let found: OpenedWorkspace | undefined;
  await entries.collect("machines", async () => {
    const workspace = openWorkspace(name, context);
    found = { workspace, cluster: await workspace.deployed() };
    return undefined;
  });
  return found;
}

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

async function endOf(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const text = await readFile(path, "utf8");
  return text.length <= tail ? text : text.slice(text.indexOf("\n", text.length - tail) + 1);
}
