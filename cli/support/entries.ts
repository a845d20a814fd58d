// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkHealth, type DesiredMachine, journalPath, previewCluster, readerOf } from "../../engine/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import { renderTopology, topologyOf } from "../../model/topology/index.ts";
import type { TalosClient } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { packageVersion } from "../../talos/own-files.ts";
import { plainText } from "../../talos/plain-text.ts";
import { type MachineDetail, machineDetail, sentenceOf } from "../../web/server/index.ts";
import { simulatorDirectory } from "../../workspace/simulator.ts";
import { type DeployedCluster, openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { doctorFindings } from "../actions/doctor.ts";
import { machineStatus } from "../actions/status.ts";
import type { CommandContext } from "../context.ts";
import { jsonText } from "../output/table.ts";

/** The files of a bundle. Nothing gets in without passing `redact`, and what cannot be had is told instead of failing. */
export class Entries {
  readonly #redact: (text: string) => string;
  readonly #files = new Map<string, string>();
  readonly #missing: string[] = [];

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(name: string, text: string): void {
    this.#files.set(name, this.#redact(text));
  }

  /** Adds what `look` finds; undefined where there is nothing to tell. */
  async collect(name: string, look: () => Promise<string | undefined>): Promise<void> {
    try {
      const text = await look();
      if (text !== undefined) this.add(name, text);
    } catch (error) {
      this.#missing.push(`${name}: ${TalosError.from(error).message}`);
    }
  }

  /** By name, with the list of what is missing. */
  files(): ReadonlyMap<string, string> {
    const missing = this.#missing.length === 0 ? "nothing\n" : `${this.#missing.join("\n")}\n`;
    return new Map([...this.#files, ["missing.txt", this.#redact(missing)]]);
  }
}

const logLines = 500;
const pastEvents = 200;
/** Machines that are not there should not hold up the others. */
const patience = 20_000;

/** What one machine tells of itself: its state, its config without secrets, its events and the logs of its services. */
export async function machineEntries(
  opened: Pick<DeployedCluster, "desired" | "secrets">,
  machine: DesiredMachine,
  entries: Entries,
  signal: AbortSignal,
): Promise<void> {
  const folder = `machines/${machine.name}`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  let detail: MachineDetail | undefined;
  await entries.collect(`${folder}/state.json`, async () => {
    detail = await machineDetail(opened, machine, limit);
    const { config: _, ...rest } = detail;
    return jsonText(rest);
  });
  if (detail?.config != null) entries.add(`${folder}/config.yaml`, detail.config);
  if (detail === undefined || detail.problem !== null) return;
  const reader = readerOf(opened, machine);
  try {
    await entries.collect(`${folder}/events.txt`, () => eventsOf(reader, limit));
    for (const { name } of detail.services) {
      await entries.collect(`${folder}/logs/${name}.log`, () => logOf(reader, name, limit));
    }
  } finally {
    reader.close();
  }
}

async function logOf(reader: TalosClient, service: string, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of reader.logs(service, { tailLines: logLines, signal })) chunks.push(chunk);
  return plainText(Buffer.concat(chunks).toString("utf8"));
}

/** The stream of events has no end: what has come when it pauses is what there was. */
async function eventsOf(reader: TalosClient, signal: AbortSignal): Promise<string> {
  const pause = new AbortController();
  const sentences: string[] = [];
  let timer = setTimeout(() => pause.abort(), 500);
  try {
    for await (const event of reader.events({ tail: pastEvents, signal: AbortSignal.any([signal, pause.signal]) })) {
      sentences.push(sentenceOf(event));
      clearTimeout(timer);
      timer = setTimeout(() => pause.abort(), 500);
    }
  } catch (error) {
    if (!pause.signal.aborted || TalosError.from(error).code !== "canceled") throw error;
  } finally {
    clearTimeout(timer);
  }
  return sentences.map((sentence) => `${sentence}\n`).join("");
}

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
  entries.add("versions.json", jsonText({ talosmith: packageVersion(), node: versions.node, platform, arch }));
  await entries.collect("doctor.json", async () => jsonText(await doctorFindings(name, context)));
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
    return jsonText({ endpoint: desired.endpoint, machines, pending: steps.map(({ sentence }) => sentence) });
  });
  await entries.collect("health.json", async () => jsonText((await checkHealth({ ...options, wait: false })).checks));
}

interface OpenedWorkspace {
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

async function endOf(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const text = await readFile(path, "utf8");
  return text.length <= tail ? text : text.slice(text.indexOf("\n", text.length - tail) + 1);
}
