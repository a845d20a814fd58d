// SPDX-License-Identifier: Apache-2.0
// A process of its own, so that its work can be told from the simulator's. Arguments: how many workers, and the
// simulator's daemon.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyCluster, desiredCluster } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { simulatorAt } from "../../simulator/control/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { generateSecrets } from "../../talos/secrets/index.ts";
import { defaultTalosVersion } from "../../talos/version/index.ts";

const workers = Number(process.argv[2]);
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
const directory = await mkdtemp(join(tmpdir(), "talosmith-bench-"));
const daemonCommand = [process.execPath, process.argv[3] ?? ""] as const;
const simulator = simulatorAt(join(directory, "simulator"), { daemonCommand });
try {
  const created = await Promise.all(
    [...names("cp", 3), ...names("w", workers)].map((name) => simulator.createMachine({ name, cluster: "bench" })),
  );
  const secrets = await generateSecrets({
    contract: defaultTalosVersion.contract,
    clock: systemClock,
    entropy: systemEntropy,
  });
  const [before, started] = [process.cpuUsage(), performance.now()];
  const desired = desiredCluster(
    {
      name: "bench",
      endpoint: `https://${created[0]?.address}:6443`,
      talosVersion: defaultTalosVersion,
      contract: defaultTalosVersion.contract,
      kubernetesVersion: defaultTalosVersion.defaultKubernetesVersion,
      machines: created.map(({ name, address, fingerprint }) => ({
        name,
        role: name.startsWith("cp") ? ("controlplane" as const) : ("worker" as const),
        address,
        fingerprint,
      })),
    },
    secrets,
  );
  await applyCluster({ desired, secrets, policy: defaultPolicy, lockFile: join(directory, "lock") });
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ milliseconds: performance.now() - started, cpu: (user + system) / 1000 }));
} finally {
  for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
  await rm(directory, { recursive: true, force: true });
}
