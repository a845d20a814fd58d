// SPDX-License-Identifier: Apache-2.0
import {
  type MachineServiceService,
  RebootResponse,
  ResetRequest_WipeMode,
  ResetResponse,
  RollbackResponse,
  ShutdownResponse,
  UpgradeResponse,
} from "../../talos/api/gen/machine/machine.ts";
import { isControlPlane } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { type Sequence, startSequence, wipeOf } from "../operations/sequences.ts";
import { checkLegacyUpgrade, rollback } from "../operations/upgrade.ts";
import type { Call, Handlers } from "./method.ts";

const wipeModes = new Map<number, keyof typeof ResetRequest_WipeMode>(
  Object.entries(ResetRequest_WipeMode).map(([name, number]) => [number, name as keyof typeof ResetRequest_WipeMode]),
);

/** Calls that take the machine down: each answers at once and goes on in the background. */
export const sequenceMethods: Handlers<typeof MachineServiceService> = {
  reboot(call) {
    const actorId = start(call, { sequence: "reboot", next: "boot" });
    return RebootResponse.fromPartial({ messages: [{ actorId }] });
  },

  shutdown(call) {
    const actorId = start(call, { sequence: "shutdown", next: "off" });
    return ShutdownResponse.fromPartial({ messages: [{ actorId }] });
  },

  reset(call, request) {
    const wipe = wipeOf({
      graceful: request.graceful,
      reboot: request.reboot,
      labels: request.systemPartitionsToWipe.filter((part) => part.wipe).map((part) => part.label),
      mode: wipeModes.get(request.mode) ?? "ALL",
    });
    const actorId = start(call, {
      sequence: "reset",
      next: request.reboot ? "boot" : "off",
      wipe,
      leaveEtcd: request.graceful && isControlPlane(call.machine()),
    });
    return ResetResponse.fromPartial({ messages: [{ actorId }] });
  },

  upgrade(call, request) {
    const release = checkLegacyUpgrade(call.world(), call.machine(), request, call.simulation.moment.now);
    const actorId = start(call, { sequence: "upgrade", next: "boot", install: { release, image: request.image } });
    return UpgradeResponse.fromPartial({ messages: [{ ack: "Upgrade request received", actorId }] });
  },

  rollback(call) {
    call.simulation.update((world, moment) => rollback(world, call.machine(), moment));
    return RollbackResponse.fromPartial({ messages: [{}] });
  },
};

function start(call: Call, sequence: Sequence): string {
  const machine = call.machine();
  if (machine.life.stage === "maintenance" && sequence.sequence === "upgrade") {
    throw new CallError("FailedPrecondition", "machine is not installed");
  }
  return call.simulation.act((world, moment) => startSequence(world, machine, sequence, moment)).actor;
}
