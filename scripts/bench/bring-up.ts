// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { criticalPath, defaultTimings, scaleTimings } from "../../simulator/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { generateMachineConfig } from "../../talos/config/index.ts";
import { generateSecrets } from "../../talos/secrets/index.ts";
import { defaultTalosVersion } from "../../talos/version/index.ts";
import { compiled } from "./compiled.ts";
import { type Profile, profileOf } from "./profile.ts";
import type { Row } from "./row.ts";

/**
 * The simulator's own times are so short that on two cores the handshakes of a hundred machines alone take longer. At
 * twenty times that, a machine boots in three seconds and is installed in four: still faster than any real one.
 */
const scale = 20;

export const bringUp: Row = {
  name: "bring-up of 3 + 100 simulated machines",
  anchor: "the simulator's own critical path",
  budget: 1.2,
  async measure() {
    const timings = scaleTimings(defaultTimings, scale);
    const secrets = await generateSecrets({
      contract: defaultTalosVersion.contract,
      clock: systemClock,
      entropy: systemEntropy,
    });
    const cluster = {
      clusterName: "bench",
      endpoint: "https://192.0.2.1:6443",
      talosVersion: defaultTalosVersion,
      kubernetesVersion: defaultTalosVersion.defaultKubernetesVersion,
    };
    const whole = await criticalPath({
      controlPlanes: 3,
      workers: 100,
      timings,
      configOf: ({ type, name }) => generateMachineConfig(cluster, secrets, { type, hostname: name }),
    });
    // The machines are on already when the engine begins.
    const anchor = whole - timings.start;
    const { milliseconds, cpu } = await run(100);
    return {
      ours: milliseconds,
      anchor,
      unit: "ms",
      note: `times × ${scale}; the engine used ${Math.round(cpu)} ms of a core`,
    };
  },
};

export const bringUpGrowth: Row = {
  name: "bring-up, growth 28 → 103 machines, work of the engine",
  anchor: "linear, + 10 %",
  budget: 1.1,
  async measure() {
    const [small, large] = [await run(25, 0.2), await run(100, 0.2)];
    const note = `28 machines take ${Math.round(small.cpu)} ms of a core`;
    return { ours: large.cpu, anchor: small.cpu * (103 / 28), unit: "ms", note };
  },
};

/** Where the engine's time goes; the simulator has its own process. */
export function bringUpProfile(): Promise<Profile> {
  return profileOf("engine, bring-up of 3 + 100 machines", async (nodeOptions) => {
    await run(100, 0.2, nodeOptions);
  });
}

/** Brings three control planes and that many workers up, in a process of its own beside that of the simulator. */
async function run(
  workers: number,
  timeScale = scale,
  nodeOptions: readonly string[] = [],
): Promise<{ readonly milliseconds: number; readonly cpu: number }> {
  const [script, daemon] = await Promise.all([compiled("bring-up-process.ts"), compiled("../../simulator/daemon.ts")]);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, script, String(workers), daemon], {
    encoding: "utf8",
    env: { ...process.env, TALOSMITH_SIMULATOR_TIME_SCALE: String(timeScale) },
  });
  if (status !== 0) throw new Error(`the bring-up ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
