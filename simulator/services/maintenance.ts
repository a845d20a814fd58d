// SPDX-License-Identifier: Apache-2.0
import { CallError } from "../machine/call-error.ts";
import { minorOf } from "../machine/release.ts";
import type { Machine } from "../machine/world.ts";

/** What the small maintenance server of 1.12 and older answers. */
const servedByOld: ReadonlySet<string> = new Set([
  "/machine.MachineService/ApplyConfiguration",
  "/storage.StorageService/Disks",
  "/storage.StorageService/BlockDeviceWipe",
  "/cosi.resource.State/Get",
  "/cosi.resource.State/List",
  "/cosi.resource.State/Watch",
]);

/** Why a machine without config does not serve the method at all; roles are checked elsewhere. */
export function maintenanceRefusal(machine: Machine, path: string): CallError | undefined {
  if (minorOf(machine.talosVersion) >= 1_013 || servedByOld.has(path)) return undefined;
  return new CallError("Unimplemented", "API is not implemented in maintenance mode");
}
