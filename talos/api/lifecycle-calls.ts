// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { ContainerDriver, ContainerdNamespace } from "./gen/common/common.ts";
import { LifecycleServiceService as lifecycle } from "./gen/machine/lifecycle.ts";
import { RebootRequest_Mode, ResetRequest_WipeMode, MachineServiceService as service } from "./gen/machine/machine.ts";
import { ask } from "./replies.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ResetOptions extends CallOptions {
  /** Drain, leave etcd, then wipe. @default true */
  readonly graceful?: boolean;
  /** Reboot after the wipe rather than power off. @default false */
  readonly reboot?: boolean;
  /** Labels of the partitions to wipe, such as EPHEMERAL. @default the whole system disk and all user disks */
  readonly partitions?: readonly string[];
}

/** Where the installer runs from: Talos's own containerd namespace. */
const systemContainerd = { driver: ContainerDriver.CRI, namespace: ContainerdNamespace.NS_SYSTEM };
const longDeadline = 30 * 60_000;

/** Calls that reboot, wipe or replace a machine's system. They answer at once; the work goes on in the background. */
export function lifecycleCalls(transport: Transport) {
  return {
    /** Returns the id that the events of this work carry. */
    async reset(options: ResetOptions = {}): Promise<string> {
      const { graceful = true, reboot = false, partitions = [], ...call } = options;
      const request = {
        graceful,
        reboot,
        systemPartitionsToWipe: partitions.map((label) => ({ label, wipe: true })),
        userDisksToWipe: [],
        mode: ResetRequest_WipeMode.ALL,
      };
      return (await ask(transport, service.reset, request, { deadline: 30_000, ...call })).actorId;
    },
    async reboot(options: CallOptions = {}): Promise<string> {
      const request = { mode: RebootRequest_Mode.DEFAULT };
      return (await ask(transport, service.reboot, request, { deadline: 30_000, ...options })).actorId;
    },
    /** Without a drain by Talos itself: the engine has drained the node. */
    async shutdown(options: CallOptions = {}): Promise<string> {
      return (await ask(transport, service.shutdown, { force: true }, { deadline: 30_000, ...options })).actorId;
    },
    /** Boots the system that ran before the last upgrade. */
    async rollback(options: CallOptions = {}): Promise<void> {
      await ask(transport, service.rollback, {}, { deadline: 30_000, ...options });
    },
    /** Upgrade as Talos up to 1.12 does it: the machine pulls, drains, installs and reboots by itself. */
    async legacyUpgrade(image: string, options: CallOptions = {}): Promise<string> {
      const request = { image, preserve: true, stage: false, force: false, rebootMode: 0 as const };
      return (await ask(transport, service.upgrade, request, { deadline: 10 * 60_000, ...options })).actorId;
    },
    /**
     * Since Talos 1.13: installs beside the running system, from an image that was pulled before, and does not reboot.
     * Throws when the installer fails.
     */
    async upgrade(image: string, options: CallOptions = {}): Promise<void> {
      const call = { deadline: longDeadline, ...options };
      const request = { containerd: systemContainerd, source: { imageName: image } };
      let exitCode: number | undefined;
      let last = "";
      for await (const reply of transport.serverStream(lifecycle.upgrade, request, call)) {
        const part = reply.progress?.response;
        if (part?.$case === "exitCode") exitCode = part.value;
        else if (part?.$case === "message") last = part.value.trimEnd() || last;
      }
      if (exitCode === 0) return;
      const how = exitCode === undefined ? "ended without a result" : `failed with exit code ${exitCode}`;
      throw new TalosError("failed-precondition", `${transport.node}: the installer ${image} ${how}: ${last}`, {
        node: transport.node,
        hint: "The machine still runs the old version. Check the image and the free space on its boot partition.",
      });
    },
  };
}

export type LifecycleCalls = ReturnType<typeof lifecycleCalls>;
