// SPDX-License-Identifier: Apache-2.0
import {
  BlockDeviceWipeResponse,
  Disk_DiskType,
  DisksResponse,
  type StorageServiceService,
} from "../../talos/api/gen/storage/storage.ts";
import { CallError } from "../machine/call-error.ts";
import { diskSize, serialOf } from "../resources/block-resources.ts";
import type { Handlers } from "./method.ts";

export const storageMethods: Handlers<typeof StorageServiceService> = {
  disks(call) {
    const machine = call.machine();
    const disk = {
      size: BigInt(diskSize),
      model: "SIMULATED DISK",
      deviceName: "/dev/sda",
      serial: serialOf(machine),
      type: Disk_DiskType.SSD,
      busPath: "/pci0000:00/0000:00:03.0/virtio0/host0/target0:0:0/0:0:0:0",
      systemDisk: machine.disk.installed !== undefined,
      subsystem: "/sys/class/block",
    };
    return DisksResponse.fromPartial({ messages: [{ disks: [disk] }] });
  },

  blockDeviceWipe(call, { devices }) {
    for (const { device } of devices) {
      if (device !== "sda") throw new CallError("NotFound", `device "${device}" not found`);
      if (call.machine().disk.installed !== undefined) {
        throw new CallError("FailedPrecondition", `block device "${device}" is in use by the system disk`);
      }
    }
    return BlockDeviceWipeResponse.fromPartial({ messages: [{}] });
  },
};
