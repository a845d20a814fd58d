// SPDX-License-Identifier: Apache-2.0
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ApplyOptions,
  type ApplyResult,
  applyCluster,
  type ClusterSpec,
  type DesiredCluster,
  type DestroyResult,
  desiredCluster,
  destroyCluster,
  type MachineSpec,
  type ObservedCluster,
  observe,
  talosMachines,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { providerDirectory } from "../../provider/package.ts";
import { type SimulatedMachine, type SimulatorControl, simulatorAt } from "../../simulator/control/index.ts";
import { given } from "../../talos/given.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "./fixture.ts";

/** A simulator of its own, in its own process and directory. */
export interface SimulatedLab {
  readonly simulator: SimulatorControl;
  create(name: string, talosVersion?: string): Promise<SimulatedMachine>;
  /** The machines by these names, as part of a spec. */
  machines(names: readonly string[]): Promise<MachineSpec[]>;
  desired(names: readonly string[], options?: SimulatedWish): Promise<DesiredCluster>;
  /** Of this lab alone: most labs share one bundle of secrets, and by it they would take each other for the same cluster. */
  readonly lockFile: string;
  apply(desired: DesiredCluster, options?: Partial<ApplyOptions>): Promise<ApplyResult>;
  observe(desired: DesiredCluster): Promise<ObservedCluster>;
  destroy(desired: DesiredCluster): Promise<DestroyResult>;
  end(): Promise<void>;
}

export interface SimulatedWish extends Partial<Pick<ClusterSpec, "kubernetesVersion" | "patches" | "installImage">> {
  readonly talos?: string;
  /** @default that of the Talos release */
  readonly contract?: string;
  readonly leaving?: readonly string[];
}

/** Secrets of its own let commands work on the lab's cluster while other labs run: they lock it by its CA. */
export async function simulatedLab(cluster: string, secrets = testSecrets()): Promise<SimulatedLab> {
  const directory = await mkdtemp(join(tmpdir(), "talosmith-engine-"));
  // Reboots of a second and a half are for talosctl's eyes; the engine sees short ones as well.
  const scale = `TALOSMITH_SIMULATOR_TIME_SCALE=${process.env.TALOSMITH_SIMULATOR_TIME_SCALE ?? "0.2"}`;
  // As users have it: to translate the sources first would take ten times as long as to start.
  const daemon = join(await providerDirectory(), "simulator-daemon.cjs");
  const daemonCommand = ["/usr/bin/env", scale, process.execPath, daemon] as const;
  const simulator = simulatorAt(join(directory, "simulator"), { daemonCommand });
  let first: string | undefined;
  const lockFile = join(directory, "cluster.lock");
  const lab: SimulatedLab = {
    simulator,
    lockFile,
    async create(name, talosVersion) {
      const made = await simulator.createMachine({
        name,
        cluster,
        ...(talosVersion === undefined ? {} : { talosVersion }),
      });
      first ??= made.address;
      return made;
    },
    async machines(names) {
      const all = await simulator.listMachines();
      return names.map((name) => {
        const found = all.find((machine) => machine.name === name);
        if (found === undefined) throw new Error(`no simulated machine ${name}`);
        const role = name.startsWith("cp") ? "controlplane" : "worker";
        return { name, role, address: found.address, fingerprint: found.fingerprint };
      });
    },
    async desired(names, wish = {}) {
      const { talos = "v1.13.9", contract = talos, leaving = [], kubernetesVersion = "1.36.3" } = wish;
      const { patches, installImage } = wish;
      const spec: ClusterSpec = {
        name: cluster,
        endpoint: `https://${first}:6443`,
        talosVersion: TalosVersion.parse(talos),
        contract: Contract.parse(contract),
        kubernetesVersion,
        machines: await lab.machines(names),
        leaving: await lab.machines(leaving),
        ...given({ patches, installImage }),
      };
      return desiredCluster(spec, secrets);
    },
    apply: (desired, options = {}) =>
      applyCluster({
        desired,
        secrets,
        policy: defaultPolicy,
        lockFile,
        timeouts: { step: 20_000, reachable: 20_000, health: 20_000 },
        ...options,
      }),
    async observe(desired) {
      const machines = talosMachines({ desired, secrets });
      try {
        return await observe(desired, { machines });
      } finally {
        machines.close();
      }
    },
    destroy: (desired) => destroyCluster({ desired, secrets, policy: defaultPolicy, lockFile }),
    async end() {
      for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return lab;
}
