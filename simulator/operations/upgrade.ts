// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { clusterOf, isControlPlane } from "../controllers/membership.ts";
import { install, swapSystems } from "../controllers/power.ts";
import { CallError } from "../machine/call-error.ts";
import { memberRuns } from "../machine/etcd.ts";
import { faultOf } from "../machine/fault.ts";
import type { Moment } from "../machine/moment.ts";
import { releaseOfImage } from "../machine/release.ts";
import { type Machine, type World, withMachine } from "../machine/world.ts";
import { startSequence } from "./sequences.ts";

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
  if (faultOf(machine.faults, "disk-full", now) !== undefined) {
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
