// SPDX-License-Identifier: Apache-2.0
import type { SSEStreamingApi } from "hono/streaming";
import { type DesiredMachine, readerOf } from "../../engine/index.ts";
import { linesOf, type MachineEvent, type TalosClient } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { oneLine } from "../../talos/plain-text.ts";
import { hideSecrets } from "../../talos/secrets/index.ts";
import type { DeployedCluster } from "../../workspace/workspace.ts";

const pastLines = 200;
const pastEvents = 50;

export interface Followed {
  readonly opened: Pick<DeployedCluster, "desired" | "secrets">;
  readonly machine: DesiredMachine;
}

/** The log of a service: what is there, then what comes, until the page goes away. */
export function followLog(followed: Followed, service: string, stream: SSEStreamingApi): Promise<void> {
  return follow(followed, stream, (client, signal) =>
    linesOf(client.logs(service, { follow: true, tailLines: pastLines, signal })),
  );
}

/** The machine's events in words. */
export function followEvents(followed: Followed, stream: SSEStreamingApi): Promise<void> {
  return follow(followed, stream, async function* (client, signal) {
    for await (const event of client.events({ tail: pastEvents, signal })) yield [sentenceOf(event)];
  });
}

type Source = (client: TalosClient, signal: AbortSignal) => AsyncIterable<readonly string[]>;

/** What breaks, as by a reboot, ends with a sentence; the browser asks again by itself. */
async function follow({ opened, machine }: Followed, stream: SSEStreamingApi, source: Source): Promise<void> {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  const client = readerOf(opened, machine);
  const hide = hideSecrets(opened.secrets);
  try {
    // The headers leave only with the first message, and a quiet log has none.
    await stream.writeSSE({ event: "begun", data: "" });
    for await (const batch of source(client, gone.signal)) {
      const data = JSON.stringify(batch.map((line) => oneLine(hide(line))));
      await stream.writeSSE({ event: "lines", data });
    }
  } catch (error) {
    const { code, message } = TalosError.from(error);
    if (code !== "canceled") await stream.writeSSE({ event: "broken", data: hide(message) });
  } finally {
    client.close();
  }
}

export function sentenceOf(event: MachineEvent): string {
  switch (event.kind) {
    case "sequence":
      return `sequence ${event.sequence}: ${event.error ?? event.action}`;
    case "phase":
      return `phase ${event.phase}: ${event.started ? "start" : "stop"}`;
    case "task":
      return `task ${event.task}: ${event.started ? "start" : "stop"}`;
    case "service":
      return `service ${event.service}: ${event.message}`;
    case "machine-status":
      return event.ready ? "the machine is ready" : "the machine is not ready";
    case "other":
      return event.type;
  }
}
