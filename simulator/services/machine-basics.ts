// SPDX-License-Identifier: Apache-2.0
import {
  ApplyConfigurationRequest_Mode,
  ApplyConfigurationResponse,
  BootstrapResponse,
  HostnameResponse,
  type MachineServiceService,
  MetaDeleteResponse,
  MetaWriteResponse,
  VersionResponse,
} from "../../talos/api/gen/machine/machine.ts";
import {
  BlockDeviceWipeResponse,
  Disk_DiskType,
  DisksResponse,
  type StorageServiceService,
} from "../../talos/api/gen/storage/storage.ts";
import { TimeResponse, type TimeServiceService } from "../../talos/api/gen/time/time.ts";
import { configOf, hostnameOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { faultOf } from "../machine/fault.ts";
import { without } from "../machine/world.ts";
import { type ApplyMode, applyConfig } from "../operations/apply-config.ts";
import { bootstrap } from "../operations/etcd.ts";
import { readSnapshot } from "../operations/snapshot.ts";
import { diskSize, serialOf } from "../resources/block-resources.ts";
import { answer, type Call, type Handlers, timestampOf } from "./method.ts";

const modeNames = new Map<number, ApplyMode>(
  Object.entries(ApplyConfigurationRequest_Mode).map(([name, number]) => [number, name as ApplyMode]),
);

/** META keys are one byte; resources name them in hex. */
function metaKey(key: number): string {
  if (key > 255) throw new CallError("InvalidArgument", "key must be a uint8");
  return `0x${key.toString(16).padStart(2, "0")}`;
}

/** Version, META, config and bootstrap: what a bring-up needs. */
export const machineBasics: Handlers<typeof MachineServiceService> = {
  version: answer(VersionResponse, (call) => {
    const machine = call.machine();
    const tag = machine.talosVersion;
    return {
      version: { tag, sha: "simulated", goVersion: "go1.26.8", os: "linux", arch: "amd64" },
      platform: { name: "metal", mode: "metal" },
      features: { rbac: configOf(machine) !== undefined },
    };
  }),

  hostname: answer(HostnameResponse, (call) => ({ hostname: hostnameOf(call.machine()) })),

  metaWrite: answer(MetaWriteResponse, (call, { key, value }) => {
    const id = metaKey(key);
    call.change((machine) => {
      const meta = { ...machine.disk.meta, [id]: Buffer.from(value).toString("utf8") };
      return { ...machine, disk: { ...machine.disk, meta } };
    });
  }),

  metaDelete: answer(MetaDeleteResponse, (call, { key }) => {
    const id = metaKey(key);
    const { disk } = call.machine();
    if (disk.meta[id] === undefined) throw new CallError("NotFound", "meta key not found");
    call.change((machine) => ({ ...machine, disk: { ...disk, meta: without(disk.meta, id) } }));
  }),

  applyConfiguration: answer(ApplyConfigurationResponse, (call, request) => {
    const input = {
      text: Buffer.from(request.data).toString("utf8"),
      mode: modeNames.get(request.mode) ?? "AUTO",
      dryRun: request.dryRun,
      tryTimeout: request.tryModeTimeout === undefined ? 60_000 : Number(request.tryModeTimeout.seconds) * 1_000,
    };
    const applied = call.simulation.act((world, moment) => applyConfig(world, call.machine(), input, moment));
    const mode = ApplyConfigurationRequest_Mode[applied.mode];
    return { mode, modeDetails: applied.details, warnings: [...applied.warnings] };
  }),

  bootstrap: answer(BootstrapResponse, (call, request) => {
    const { simulation } = call;
    const { snapshots } = simulation;
    const recover = (name: string) =>
      snapshots.has(name)
        ? snapshots.use(name, (file) => readSnapshot(file, name, request.recoverSkipHashCheck))
        : undefined;
    simulation.update((world, moment) =>
      bootstrap(world, call.machine(), request.recoverEtcd ? { recover } : {}, moment),
    );
    snapshots.sweep(simulation.world);
  }),
};

export const storageMethods: Handlers<typeof StorageServiceService> = {
  disks: answer(DisksResponse, (call) => {
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
    return { disks: [disk] };
  }),

  blockDeviceWipe: answer(BlockDeviceWipeResponse, (call, { devices }) => {
    for (const { device } of devices) {
      if (device !== "sda") throw new CallError("NotFound", `device "${device}" not found`);
      if (call.machine().disk.installed !== undefined) {
        throw new CallError("FailedPrecondition", `block device "${device}" is in use by the system disk`);
      }
    }
  }),
};

export const timeMethods: Handlers<typeof TimeServiceService> = {
  time: answer(TimeResponse, (call) => clocks(call, "time.cloudflare.com")),
  timeCheck: answer(TimeResponse, (call, { server }) => clocks(call, server)),
};

/** The machine's clock beside the true one; they differ under a clock fault. */
function clocks(call: Call, server: string) {
  const { now } = call.simulation.moment;
  const skew = faultOf(call.machine().faults, "clock-skew", now)?.milliseconds ?? 0;
  return { server, localtime: timestampOf(now + skew), remotetime: timestampOf(now) };
}
