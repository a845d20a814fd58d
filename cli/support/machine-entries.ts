// SPDX-License-Identifier: Apache-2.0
import { type DesiredMachine, readerOf } from "../../engine/index.ts";
import type { TalosClient } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { plainText } from "../../talos/plain-text.ts";
import { type MachineDetail, machineDetail, sentenceOf } from "../../web/server/index.ts";
import type { DeployedCluster } from "../../workspace/workspace.ts";
import type { Entries } from "./entries.ts";

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
    return `${JSON.stringify(rest, undefined, 2)}\n`;
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
