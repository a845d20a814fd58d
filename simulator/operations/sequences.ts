// SPDX-License-Identifier: Apache-2.0
import { randomUuid } from "../machine/chance.ts";
import { CallError } from "../machine/call-error.ts";
import { emit, emitAll } from "../machine/events.ts";
import type { Life, Wipe } from "../machine/life.ts";
import type { Moment } from "../machine/moment.ts";
import { type Machine, type World, withMachine } from "../machine/world.ts";

type Stopping = Extract<Life, { stage: "stopping" }>;
export type Sequence = Omit<Stopping, "stage" | "actor" | "until">;

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
  const life: Stopping = { stage: "stopping", actor, until: now + moment.timings.stop, ...sequence };
  const announced = emitAll(
    { ...machine, life },
    now,
    [
      { kind: "sequence", sequence: sequence.sequence, action: "START" },
      ...(sequence.sequence === "shutdown" || sequence.sequence === "reset"
        ? ([{ kind: "phase", phase: "drain", action: "START" }, { kind: "phase", phase: "drain", action: "STOP" }] as const)
        : []),
      { kind: "phase", phase: "cleanup", action: "START" },
      { kind: "task", task: "stopAllPods", action: "START" },
      { kind: "task", task: "stopAllPods", action: "STOP" },
      { kind: "phase", phase: "cleanup", action: "STOP" },
      { kind: "phase", phase: "stopServices", action: "START" },
      { kind: "task", task: "stopAllServices", action: "START" },
    ],
    actor,
  );
  return { world: withMachine(world, announced), actor };
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
  return input.labels.reduce<Wipe>((wipe, label) => {
    const part = labels[label];
    if (part === undefined) throw new CallError("Unknown", `partition with label "${label}" not found`);
    return { ...wipe, [part]: true };
  }, nothing);
}
