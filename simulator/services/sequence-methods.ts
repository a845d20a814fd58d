// SPDX-License-Identifier: Apache-2.0

import {
  LifecycleServiceInstallResponse,
  type LifecycleServiceService,
  LifecycleServiceUpgradeResponse,
} from "../../talos/api/gen/machine/lifecycle.ts";
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
import { minorOf } from "../machine/release.ts";
import {
  checkLegacyUpgrade,
  installBeside,
  installerRelease,
  rollback,
  type Sequence,
  startSequence,
  wipeOf,
} from "../operations/sequences.ts";
import type { Simulation } from "../simulation.ts";
import { answer, type Call, type Handlers } from "./method.ts";

const wipeModes = new Map<number, keyof typeof ResetRequest_WipeMode>(
  Object.entries(ResetRequest_WipeMode).map(([name, number]) => [number, name as keyof typeof ResetRequest_WipeMode]),
);

/** Calls that take the machine down: each answers at once and goes on in the background. */
export const sequenceMethods: Handlers<typeof MachineServiceService> = {
  reboot: answer(RebootResponse, (call) => ({ actorId: start(call, { sequence: "reboot", next: "boot" }) })),

  shutdown: answer(ShutdownResponse, (call) => ({ actorId: start(call, { sequence: "shutdown", next: "off" }) })),

  reset: answer(ResetResponse, (call, request) => {
    const wipe = wipeOf({
      graceful: request.graceful,
      reboot: request.reboot,
      labels: request.systemPartitionsToWipe.filter((part) => part.wipe).map((part) => part.label),
      mode: wipeModes.get(request.mode) ?? "ALL",
    });
    const leaveEtcd = request.graceful && isControlPlane(call.machine());
    return { actorId: start(call, { sequence: "reset", next: request.reboot ? "boot" : "off", wipe, leaveEtcd }) };
  }),

  upgrade: answer(UpgradeResponse, (call, request) => {
    const release = checkLegacyUpgrade(call.world(), call.machine(), request, call.simulation.moment.now);
    const actorId = start(call, { sequence: "upgrade", next: "boot", install: { release, image: request.image } });
    return { ack: "Upgrade request received", actorId };
  }),

  rollback: answer(RollbackResponse, (call) => {
    call.simulation.update((world, moment) => rollback(world, call.machine(), moment));
  }),
};

function start(call: Call, sequence: Sequence): string {
  const machine = call.machine();
  if (machine.life.stage === "maintenance" && sequence.sequence === "upgrade") {
    throw new CallError("FailedPrecondition", "machine is not installed");
  }
  return call.simulation.act((world, moment) => startSequence(world, machine, sequence, moment)).actor;
}

/** Machines with an installer at work, per simulation; a second one is refused. */
const working = new WeakMap<Simulation, Set<string>>();

function busyIn(simulation: Simulation): Set<string> {
  const busy = working.get(simulation) ?? new Set<string>();
  working.set(simulation, busy);
  return busy;
}

/** What the installer says, and at the end how it went. */
type Step =
  | { readonly $case: "message"; readonly value: string }
  | { readonly $case: "exitCode"; readonly value: number };

/** Install and upgrade as clients of 1.13 drive them: the machine is changed on disk, the client reboots it. */
export const lifecycleMethods: Handlers<typeof LifecycleServiceService> = {
  async *upgrade(call, { source }) {
    for await (const response of work(call, source?.imageName ?? "", (release) => {
      call.simulation.update((world) => installBeside(world, call.machine(), release, source?.imageName ?? ""));
    })) {
      yield LifecycleServiceUpgradeResponse.fromPartial({ progress: { response } });
    }
  },

  async *install(call, { source, destination }) {
    if (call.machine().disk.installed !== undefined)
      throw new CallError("AlreadyExists", "machine is already installed");
    if ((destination?.disk ?? "") === "") throw new CallError("InvalidArgument", "destination disk is required");
    for await (const response of work(call, source?.imageName ?? "", (installed) => {
      const installedImage = source?.imageName ?? "";
      call.change((machine) => ({ ...machine, disk: { ...machine.disk, installed, installedImage } }));
    })) {
      yield LifecycleServiceInstallResponse.fromPartial({ progress: { response } });
    }
  },
};

async function* work(call: Call, image: string, finish: (release: string) => void): AsyncGenerator<Step> {
  const machine = call.machine();
  if (minorOf(machine.talosVersion) < 1_013) {
    throw new CallError("Unimplemented", "unknown service machine.LifecycleService");
  }
  const release = installerRelease(machine, image, call.simulation.moment.now);
  if (!machine.images.includes(image)) {
    throw new CallError("Internal", `failed to get installer image "${image}": image not found`);
  }
  const busy = busyIn(call.simulation);
  if (busy.has(machine.id)) {
    throw new CallError("FailedPrecondition", "another installation/upgrade is already in progress");
  }
  busy.add(machine.id);
  try {
    yield { $case: "message", value: `running Talos installer ${release}\n` };
    yield { $case: "message", value: "installing boot loader entry beside the running system\n" };
    await call.simulation.sleep(call.simulation.timings.upgrade, call.signal);
    if (call.signal.aborted) throw new CallError("Canceled", "context canceled");
    finish(release);
    yield { $case: "message", value: "installation complete\n" };
    yield { $case: "exitCode", value: 0 };
  } finally {
    busy.delete(machine.id);
  }
}
