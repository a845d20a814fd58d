// SPDX-License-Identifier: Apache-2.0
import { CallError } from "../machine/call-error.ts";
import { randomUuid } from "../machine/chance.ts";
import type { EventBody } from "../machine/event.ts";
import { emit, emitAll } from "../machine/events.ts";
import type { Life, Wipe } from "../machine/life.ts";
import type { Moment } from "../machine/moment.ts";
import { type Machine, type World, withMachine } from "../machine/world.ts";

type Stopping = Extract<Life, { stage: "stopping" }>;
export type Sequence = Omit<Stopping, "stage" | "actor" | "until" | "servicesUntil">;

export interface Started {
  readonly world: World;
  /** Who to follow in the event stream. */
  readonly actor: string;
}

/** Begins to take a machine down. While another sequence holds the lock nothing starts; only the events tell. */
export function startSequence(world: World, machine: Machine, sequence: Sequence, moment: Moment): Started {
  const actor = randomUuid(moment.entropy);
  const { now } = moment;
  if (machine.life.stage === "stopping" || machine.life.stage === "installing") {
    const error = { code: "LOCKED", message: "sequence not started: locked" } as const;
    const refused = emit(machine, now, { kind: "sequence", sequence: sequence.sequence, action: "NOOP", error }, actor);
    return { world: withMachine(world, refused), actor };
  }
  const { stop } = moment.timings;
  const life: Stopping = {
    stage: "stopping",
    actor,
    servicesUntil: now + (stop * 2) / 3,
    until: now + stop,
    ...sequence,
  };
  const bodies: EventBody[] = [{ kind: "sequence", sequence: sequence.sequence, action: "START" }];
  if (sequence.sequence === "shutdown" || sequence.sequence === "reset")
    bodies.push({ kind: "phase", phase: "drain", action: "START" }, { kind: "phase", phase: "drain", action: "STOP" });
  bodies.push({ kind: "phase", phase: "cleanup", action: "START" });
  bodies.push({ kind: "task", task: "stopAllPods", action: "START" });
  return { world: withMachine(world, emitAll({ ...machine, life }, now, bodies, actor)), actor };
}

const labels: Readonly<Record<string, keyof Wipe>> = { STATE: "state", EPHEMERAL: "ephemeral", META: "meta" };

export interface ResetInput {
  readonly graceful: boolean;
  readonly reboot: boolean;
  readonly labels: readonly string[];
  readonly mode: "ALL" | "SYSTEM_DISK" | "USER_DISKS";
}

/** Which parts of the disk a reset wipes. Throws for a partition that the machine does not have. */
export function wipeOf(input: ResetInput): Wipe {
  const nothing: Wipe = { state: false, ephemeral: false, meta: false, everything: false };
  if (input.mode === "USER_DISKS") return nothing;
  if (input.labels.length === 0) return { state: true, ephemeral: true, meta: true, everything: true };
  const unknown = input.labels.find((label) => labels[label] === undefined);
  if (unknown !== undefined) throw new CallError("Unknown", `partition with label "${unknown}" not found`);
  return { ...nothing, ...Object.fromEntries(input.labels.map((label) => [labels[label], true])) };
}
