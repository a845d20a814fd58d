// SPDX-License-Identifier: Apache-2.0
import {
  LifecycleServiceInstallResponse,
  type LifecycleServiceService,
  LifecycleServiceUpgradeResponse,
} from "../../talos/api/gen/machine/lifecycle.ts";
import { CallError } from "../machine/call-error.ts";
import { minorOf } from "../machine/release.ts";
import { withMachine } from "../machine/world.ts";
import { installBeside, installerRelease } from "../operations/upgrade.ts";
import type { Simulation } from "../simulation.ts";
import type { Call, Handlers } from "./method.ts";

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
      call.simulation.update((world) => {
        const machine = call.machine();
        return withMachine(world, {
          ...machine,
          disk: { ...machine.disk, installed, installedImage: source?.imageName ?? "" },
        });
      });
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
