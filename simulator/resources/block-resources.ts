// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { hardware } from "../machine/hardware.ts";
import type { Machine } from "../machine/world.ts";
import { type Item, only, type Producer, type View } from "./item.ts";

export const diskSize = hardware.diskBytes;

export function serialOf(machine: Machine): string {
  return createHash("sha256").update(`disk/${machine.id}`).digest("hex").slice(0, 12);
}

/** What an installed system disk holds, and as what a discovery and, of Talos's own volumes, their manager name it. */
const partitions = [
  { index: 1, label: "EFI", found: "vfat", size: 2_202_009_600, pretty: "2.2 GB" },
  { index: 2, label: "META", found: "talosmeta", filesystem: "none", size: 1_048_576, pretty: "1.0 MB" },
  { index: 3, label: "STATE", found: "xfs", filesystem: "xfs", size: 104_857_600, pretty: "105 MB" },
  { index: 4, label: "EPHEMERAL", found: "xfs", filesystem: "xfs", size: 18_766_364_672, pretty: "19 GB" },
] as const;

function volumes({ machine }: View): readonly Item[] {
  const labels = { "talos.dev/system-volume": "" };
  return partitions.flatMap((partition): Item[] => {
    if (partition.label === "EFI") return [];
    const { label: id, index, size, pretty, filesystem } = partition;
    const missing = { phase: id === "EPHEMERAL" ? "waiting" : "missing", type: "partition" };
    const ready = {
      phase: "ready",
      type: "partition",
      location: `/dev/sda${index}`,
      parentLocation: "/dev/sda",
      partitionIndex: index,
      size,
      prettySize: pretty,
      filesystem,
    };
    const fault = machine.faults.find((one) => one.kind === "volume-fails" && one.volume === id);
    if (fault?.kind === "volume-fails")
      return [{ id, spec: { phase: "failed", type: "partition", errorMessage: fault.message }, labels }];
    return [{ id, spec: machine.disk.installed === undefined ? missing : ready, labels }];
  });
}

function discovered({ machine }: View): readonly Item[] {
  const disk = { type: "disk", dev_path: "/dev/sda", size: diskSize, pretty_size: "21 GB" };
  if (machine.disk.installed === undefined) return [{ id: "sda", spec: disk }];
  const parts = partitions.map(({ index, label, found, size, pretty }) => ({
    id: `sda${index}`,
    spec: {
      type: "partition",
      dev_path: `/dev/sda${index}`,
      parent: "sda",
      parent_dev_path: "/dev/sda",
      size,
      pretty_size: pretty,
      name: found,
      label: label === "META" ? "" : label,
      partition_index: index,
      partition_label: label,
    },
  }));
  return [{ id: "sda", spec: { ...disk, name: "gpt" } }, ...parts];
}

export const blockResources: Readonly<Record<string, Producer>> = {
  "Disks.block.talos.dev": only("sda", ({ machine }) => ({
    dev_path: "/dev/sda",
    size: diskSize,
    pretty_size: "21 GB",
    io_size: 512,
    sector_size: 512,
    readonly: false,
    cdrom: false,
    model: "SIMULATED DISK",
    serial: serialOf(machine),
    wwid: `t10.SIM     SIMULATED DISK ${serialOf(machine)}`,
    bus_path: "/pci0000:00/0000:00:03.0/virtio0/host0/target0:0:0/0:0:0:0",
    sub_system: "/sys/class/block",
    transport: "virtio",
    rotational: false,
  })),
  "SystemDisks.block.talos.dev": ({ machine }) =>
    machine.disk.installed === undefined ? [] : [{ id: "system-disk", spec: { diskID: "sda", devPath: "/dev/sda" } }],
  "VolumeStatuses.block.talos.dev": volumes,
  "DiscoveredVolumes.block.talos.dev": discovered,
  "SystemInformations.hardware.talos.dev": only("systeminformation", ({ machine }) => ({
    manufacturer: "talosmith",
    productName: "Simulated machine",
    version: "1",
    serialnumber: serialOf(machine),
    uuid: machine.id,
    wakeUpType: "Power Switch",
    skuNumber: "",
  })),
  "Processors.hardware.talos.dev": only("CPU-0", () => ({
    socket: "CPU 0",
    manufacturer: "talosmith",
    productName: "simulated",
    coreCount: 4,
    coreEnabled: 4,
    threadCount: 4,
  })),
  "MemoryModules.hardware.talos.dev": only("DIMM-0", () => ({
    sizeMiB: 8192,
    deviceLocator: "DIMM 0",
    manufacturer: "talosmith",
    productName: "simulated",
  })),
};
