// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { hardware } from "../machine/hardware.ts";
import type { Machine } from "../machine/world.ts";
import { type Item, only, type Source, type View } from "./item.ts";

export const diskSize = hardware.diskBytes;

export function serialOf(machine: Machine): string {
  return createHash("sha256").update(`disk/${machine.id}`).digest("hex").slice(0, 12);
}

function volume(id: string, index: number, size: number, prettySize: string, filesystem: string): Item {
  const location = `/dev/sda${index}`;
  return {
    id,
    spec: {
      phase: "ready",
      type: "partition",
      location,
      parentLocation: "/dev/sda",
      partitionIndex: index,
      size,
      prettySize,
      filesystem,
    },
    labels: { "talos.dev/system-volume": "" },
  };
}

function volumes({ machine }: View): readonly Item[] {
  if (machine.disk.installed === undefined) {
    return ["EPHEMERAL", "META", "STATE"].map((id) => ({
      id,
      spec: { phase: id === "EPHEMERAL" ? "waiting" : "missing", type: "partition" },
      labels: { "talos.dev/system-volume": "" },
    }));
  }
  return [
    volume("EPHEMERAL", 4, 18_766_364_672, "19 GB", "xfs"),
    volume("META", 2, 1_048_576, "1.0 MB", "none"),
    volume("STATE", 3, 104_857_600, "105 MB", "xfs"),
  ];
}

export const blockResources: Readonly<Record<string, Source>> = {
  "Disks.block.talos.dev": {
    owner: "block.DisksController",
    items: only("sda", ({ machine }) => ({
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
  },
  "SystemDisks.block.talos.dev": {
    owner: "block.SystemDiskController",
    items: ({ machine }) =>
      machine.disk.installed === undefined ? [] : [{ id: "system-disk", spec: { diskID: "sda", devPath: "/dev/sda" } }],
  },
  "VolumeStatuses.block.talos.dev": { owner: "block.VolumeManagerController", items: volumes },
  "DiscoveredVolumes.block.talos.dev": {
    owner: "block.DiscoveryController",
    items: ({ machine }) => {
      const disk = { type: "disk", dev_path: "/dev/sda", size: diskSize, pretty_size: "21 GB" };
      if (machine.disk.installed === undefined) return [{ id: "sda", spec: disk }];
      return [
        { id: "sda", spec: { ...disk, name: "gpt" } },
        { id: "sda1", spec: partition(1, "EFI", "vfat", 2_202_009_600, "2.2 GB") },
        { id: "sda2", spec: partition(2, "META", "talosmeta", 1_048_576, "1.0 MB") },
        { id: "sda3", spec: partition(3, "STATE", "xfs", 104_857_600, "105 MB") },
        { id: "sda4", spec: partition(4, "EPHEMERAL", "xfs", 18_766_364_672, "19 GB") },
      ];
    },
  },
  "SystemInformations.hardware.talos.dev": {
    owner: "hardware.SystemInfoController",
    items: only("systeminformation", ({ machine }) => ({
      manufacturer: "talosmith",
      productName: "Simulated machine",
      version: "1",
      serialnumber: serialOf(machine),
      uuid: machine.id,
      wakeUpType: "Power Switch",
      skuNumber: "",
    })),
  },
  "Processors.hardware.talos.dev": {
    owner: "hardware.SystemInfoController",
    items: only("CPU-0", () => ({
      socket: "CPU 0",
      manufacturer: "talosmith",
      productName: "simulated",
      coreCount: 4,
      coreEnabled: 4,
      threadCount: 4,
    })),
  },
  "MemoryModules.hardware.talos.dev": {
    owner: "hardware.SystemInfoController",
    items: only("DIMM-0", () => ({
      sizeMiB: 8192,
      deviceLocator: "DIMM 0",
      manufacturer: "talosmith",
      productName: "simulated",
    })),
  },
};

function partition(
  index: number,
  label: string,
  name: string,
  size: number,
  pretty: string,
): Readonly<Record<string, unknown>> {
  return {
    type: "partition",
    dev_path: `/dev/sda${index}`,
    parent: "sda",
    parent_dev_path: "/dev/sda",
    size,
    pretty_size: pretty,
    name,
    label: name === "talosmeta" ? "" : label,
    partition_index: index,
    partition_label: label,
  };
}
