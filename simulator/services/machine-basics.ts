// SPDX-License-Identifier: Apache-2.0
import {
  ApplyConfigurationRequest_Mode,
  ApplyConfigurationResponse,
  BootstrapResponse,
  HostnameResponse,
  type MachineServiceService,
  VersionResponse,
} from "../../talos/api/gen/machine/machine.ts";
import { configOf, hostnameOf } from "../controllers/membership.ts";
import { type ApplyMode, applyConfig } from "../operations/apply-config.ts";
import { bootstrap } from "../operations/etcd.ts";
import { readSnapshot } from "../operations/snapshot.ts";
import type { Handlers } from "./method.ts";

const modeNames = new Map<number, ApplyMode>(
  Object.entries(ApplyConfigurationRequest_Mode).map(([name, number]) => [number, name as ApplyMode]),
);

/** Version, config and bootstrap: what a bring-up needs. */
export const machineBasics: Handlers<typeof MachineServiceService> = {
  version(call) {
    const machine = call.machine();
    const tag = machine.talosVersion;
    const version = { tag, sha: "simulated", goVersion: "go1.26.8", os: "linux", arch: "amd64" };
    const platform = { name: "metal", mode: "metal" };
    const features = { rbac: configOf(machine) !== undefined };
    return VersionResponse.fromPartial({ messages: [{ version, platform, features }] });
  },

  hostname(call) {
    return HostnameResponse.fromPartial({ messages: [{ hostname: hostnameOf(call.machine()) }] });
  },

  applyConfiguration(call, request) {
    const applied = call.simulation.act((world, moment) =>
      applyConfig(
        world,
        call.machine(),
        {
          text: Buffer.from(request.data).toString("utf8"),
          mode: modeNames.get(request.mode) ?? "AUTO",
          dryRun: request.dryRun,
          tryTimeout: request.tryModeTimeout === undefined ? 60_000 : Number(request.tryModeTimeout.seconds) * 1_000,
        },
        moment,
      ),
    );
    const mode = ApplyConfigurationRequest_Mode[applied.mode];
    const message = { mode, modeDetails: applied.details, warnings: [...applied.warnings] };
    return ApplyConfigurationResponse.fromPartial({ messages: [message] });
  },

  bootstrap(call, request) {
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
    return BootstrapResponse.fromPartial({ messages: [{}] });
  },
};
