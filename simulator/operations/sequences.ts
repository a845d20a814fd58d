// SPDX-License-Identifier: Apache-2.0

import { TalosError } from "../../talos/errors.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { clusterOf, isControlPlane } from "../controllers/membership.ts";
import { install, swapSystems } from "../controllers/power.ts";
import { CallError } from "../machine/call-error.ts";
import { randomUuid } from "../machine/chance.ts";
import { memberRuns } from "../machine/etcd.ts";
import { emit, emitAll } from "../machine/events.ts";
import { hasFault } from "../machine/fault.ts";
import type { Life, Wipe } from "../machine/life.ts";
import { releaseOfImage } from "../machine/release.ts";
import type { Moment } from "../machine/timings.ts";
import { type EventBody, type Machine, type World, withMachine } from "../machine/world.ts";

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

export interface UpgradeInput {
  readonly image: string;
  readonly preserve: boolean;
  readonly force: boolean;
}

/** The release in an installer image; the simulator reads it from the tag. */
export function installerRelease(machine: Machine, image: string, now: number): string {
  if (image === "") throw new CallError("InvalidArgument", "installer image name is required");
  const release = releaseOfImage(image);
  if (release === undefined) {
    throw new CallError("Unknown", `error validating installer image "${image}": failed to resolve image: not found`);
  }
  if (hasFault(machine, "disk-full", now)) {
    throw new CallError("Unknown", `error validating installer image "${image}": no space left on device`);
  }
  try {
    TalosVersion.parse(release).requireUpgradeFrom(TalosVersion.parse(machine.talosVersion));
  } catch (error) {
    throw new CallError("Unknown", `error validating installer image "${image}": ${TalosError.from(error).message}`, {
      cause: error,
    });
  }
  return release;
}

/** The checks of MachineService.Upgrade, before it answers. */
export function checkLegacyUpgrade(world: World, machine: Machine, input: UpgradeInput, now: number): string {
  const release = installerRelease(machine, input.image, now);
  if (!isControlPlane(machine) || input.force || input.preserve) return release;
  const etcd = clusterOf(world, machine)?.etcd;
  if (etcd === undefined) return release;
  if (etcd.members.length === 2) {
    throw new CallError(
      "Unknown",
      "error validating etcd for upgrade: etcd member count(2) is insufficient to maintain quorum if upgrade commences",
    );
  }
  const silent = etcd.members.find((member) => member.machine !== machine.id && !memberRuns(world, member));
  if (silent !== undefined) {
    throw new CallError("Unknown", `error validating etcd for upgrade: etcd member ${silent.id} is not healthy`);
  }
  return release;
}

/** Puts a release beside the running one; the next boot starts it. */
export function installBeside(world: World, machine: Machine, release: string, image: string): World {
  if (machine.disk.installed === undefined) throw new CallError("FailedPrecondition", "machine is not installed");
  return withMachine(world, { ...machine, disk: install(machine.disk, release, image) });
}

/** Boots the other half of the A/B pair again. */
export function rollback(world: World, machine: Machine, moment: Moment): World {
  if (machine.disk.previous === undefined) throw new CallError("Unknown", "no previous boot entry to roll back to");
  const swapped = { ...machine, disk: swapSystems(machine.disk) };
  return startSequence(withMachine(world, swapped), swapped, { sequence: "reboot", next: "boot" }, moment).world;
}
