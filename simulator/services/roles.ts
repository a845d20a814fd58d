// SPDX-License-Identifier: Apache-2.0
import { CallError } from "../machine/call-error.ts";
import { minorOf } from "../machine/release.ts";
import type { Machine } from "../machine/world.ts";

type Group = "admin" | "operator" | "backup" | "reader-backup" | "meta" | "verifier" | "reader" | "maintenance";

const groups: Readonly<Record<Group, readonly string[]>> = {
  admin: ["os:admin"],
  operator: ["os:admin", "os:operator"],
  backup: ["os:admin", "os:operator", "os:etcd:backup"],
  "reader-backup": ["os:admin", "os:operator", "os:reader", "os:etcd:backup"],
  meta: ["os:admin", "os:meta:writer"],
  verifier: ["os:admin", "os:operator", "os:reader", "os:image:verifier"],
  reader: ["os:admin", "os:operator", "os:reader"],
  maintenance: ["os:admin"],
};

const machine = (names: string, group: Group): [string, Group][] =>
  names.split(" ").map((name) => [`/machine.MachineService/${name}`, group]);

const methods: ReadonlyMap<string, Group> = new Map<string, Group>([
  ...machine("EtcdAlarmDisarm EtcdDefragment ImagePull PacketCapture Reboot Restart Shutdown", "operator"),
  ...machine("ServiceStart ServiceStop ServiceRestart", "operator"),
  ...machine("EtcdSnapshot", "backup"),
  ...machine("EtcdAlarmList EtcdMemberList EtcdStatus", "reader-backup"),
  ...machine("MetaWrite MetaDelete", "meta"),
  ...machine(
    "CPUInfo CPUFreqStats Containers DiskStats DiskUsage Dmesg Events Hostname ImageList List LoadAvg",
    "reader",
  ),
  ...machine("Logs LogsContainers Memory Mounts NetworkDeviceStats Netstat Processes ServiceList", "reader"),
  ...machine("Stats SystemStat Version", "reader"),
  ...machine("ApplyConfiguration", "maintenance"),
  ["/machine.ImageService/List", "reader"],
  ["/machine.ImageService/Pull", "operator"],
  ["/machine.ImageService/Verify", "verifier"],
  ["/cluster.ClusterService/HealthCheck", "reader"],
  ["/inspect.InspectService/ControllerRuntimeDependencies", "reader"],
  ["/storage.StorageService/Disks", "reader"],
  ["/storage.StorageService/BlockDeviceWipe", "maintenance"],
  ["/time.TimeService/Time", "reader"],
  ["/time.TimeService/TimeCheck", "reader"],
  ["/cosi.resource.State/Get", "reader"],
  ["/cosi.resource.State/List", "reader"],
  ["/cosi.resource.State/Watch", "reader"],
]);

/** Whether one of these roles may call the method. A method that is not listed needs os:admin. */
export function mayCall(path: string, roles: ReadonlySet<string>, inMaintenance: boolean): boolean {
  const group = methods.get(path) ?? "admin";
  if (group === "maintenance" && inMaintenance) return true;
  return groups[group].some((role) => roles.has(role));
}

/** The roles in the subject of a client certificate: one organization each. */
export function knownRoles(organizations: readonly string[]): ReadonlySet<string> {
  return new Set(organizations.filter((name) => name.startsWith("os:")));
}

/** What the small maintenance server of 1.12 and older answers. */
const servedByOld: ReadonlySet<string> = new Set([
  "/machine.MachineService/ApplyConfiguration",
  "/storage.StorageService/Disks",
  "/storage.StorageService/BlockDeviceWipe",
  "/cosi.resource.State/Get",
  "/cosi.resource.State/List",
  "/cosi.resource.State/Watch",
]);

/** Why a machine without config does not serve the method at all, whatever the roles. */
export function maintenanceRefusal(machine: Machine, path: string): CallError | undefined {
  if (minorOf(machine.talosVersion) >= 1_013 || servedByOld.has(path)) return undefined;
  return new CallError("Unimplemented", "API is not implemented in maintenance mode");
}
