// SPDX-License-Identifier: Apache-2.0

import type { Data } from "../../talos/api/gen/common/common.ts";
import { LogsContainersResponse, type MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { CallError } from "../machine/call-error.ts";
import { kernel } from "../machine/hardware.ts";
import type { Machine, MachineEvent } from "../machine/world.ts";
import { answer, type Call, everyChange, type Handlers, inPieces } from "./method.ts";

/** Logs that are made from what really happened to the machine: its events. */
export const logMethods: Handlers<typeof MachineServiceService> = {
  async *logs(call, request) {
    const { id, tailLines, follow } = request;
    if (call.machine().services[id] === undefined && !["machined", "kernel", "controller-runtime"].includes(id)) {
      throw new CallError("Unknown", `log "${id}" was not registered`);
    }
    yield* lines(call, (machine) => serviceLines(machine, id), tailLines, follow);
  },

  logsContainers: answer(LogsContainersResponse, (call) => ({
    ids: ["controller-runtime", "kernel", ...Object.keys(call.machine().services)].sort(),
  })),

  async *dmesg(call, request) {
    const tail = request.tail ? 0 : -1;
    yield* lines(call, kernelLines, tail, request.follow, eachAlone);
  },
};

interface Line {
  readonly number: number;
  readonly text: string;
}

async function* lines(
  call: Call,
  read: (machine: Machine) => readonly Line[],
  tail: number,
  follow: boolean,
  send = chunks,
): AsyncGenerator<Data> {
  const present = read(call.machine());
  const shown = tail < 0 ? present : present.slice(Math.max(0, present.length - tail));
  yield* send(shown);
  if (!follow) return;
  let last = present.at(-1)?.number ?? -1;
  for await (const _ of everyChange(call)) {
    const fresh = read(call.machine()).filter((line) => line.number > last);
    last = fresh.at(-1)?.number ?? last;
    yield* send(fresh);
  }
}

function chunks(content: readonly Line[]): Generator<Data> {
  return inPieces(Buffer.from(content.map((line) => `${line.text}\n`).join("")));
}

/** Talos sends every message of the kernel by itself, and talosctl puts the machine before each. */
function* eachAlone(content: readonly Line[]): Generator<Data> {
  for (const line of content) yield* chunks([line]);
}

function serviceLines(machine: Machine, id: string): readonly Line[] {
  if (id === "kernel") return kernelLines(machine);
  return machine.events.flatMap((event): Line[] => {
    const { body } = event;
    const time = new Date(event.at).toISOString();
    if (id === "machined" || id === "controller-runtime") {
      const text = sentence(event);
      return text === undefined ? [] : [{ number: event.number, text: `${time} [talos] ${text}` }];
    }
    if (body.kind !== "service" || body.service !== id) return [];
    return [
      { number: event.number, text: JSON.stringify({ level: "info", ts: time, msg: body.message, service: id }) },
    ];
  });
}

/** `facility: priority: [time]: message` */
function kernelLines(machine: Machine): readonly Line[] {
  const boot = new Date(machine.bootedAt).toISOString();
  const first = {
    number: -1,
    text: `kern:  notice: [${boot}]: Linux version ${kernel.version} (${machine.talosVersion})`,
  };
  const rest = machine.events.flatMap((event): Line[] => {
    const text = event.at < machine.bootedAt ? undefined : sentence(event);
    if (text === undefined) return [];
    return [{ number: event.number, text: `user: warning: [${new Date(event.at).toISOString()}]: [talos] ${text}` }];
  });
  return [first, ...rest];
}

function sentence({ body }: MachineEvent): string | undefined {
  switch (body.kind) {
    case "sequence":
      return body.error === undefined
        ? `${body.sequence} sequence: ${body.action === "START" ? "started" : "done"}`
        : `${body.sequence} sequence: failed: ${body.error.message}`;
    case "phase":
      return `phase ${body.phase}: ${body.action === "START" ? "started" : "done"}`;
    case "task":
      return `task ${body.task}: ${body.action === "START" ? "starting" : "done"}`;
    case "service":
      return `service[${body.service}](${body.state}): ${body.message}`;
    case "status":
      return `machine is ${body.stage}, ${body.ready ? "ready" : "not ready"}`;
    case "address":
      return `${body.hostname} has ${body.addresses.join(", ")}`;
  }
}
