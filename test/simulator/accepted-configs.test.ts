// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import { generateConfigWithFacts, type MachineConfig, validateConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { type RandomConfig, randomConfigs } from "../support/random-patches.ts";
import { clusterOf, secrets } from "../talos/config/golden-secrets.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

const releases = Contract.all().map((contract) => TalosVersion.newestOf(contract));

/** A config of a contract for machines of any release that takes it, with patches. Undefined when these cannot be applied. */
function patchedConfig({ contract, type, patches }: RandomConfig, talos: TalosVersion): MachineConfig | undefined {
  const cluster = clusterOf(contract, {
    contract: Contract.parse(contract),
    talosVersion: talos,
    kubernetesVersion: talos.defaultKubernetesVersion,
  });
  try {
    return generateConfigWithFacts(cluster, secrets, { type, patches }).config;
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    return undefined;
  }
}

test("a machine takes a config, whatever its contract, exactly when validation by the machine's release has no error", async () => {
  const lab = new VirtualLaboratory();
  const machines = new Map<string, Machine>();
  for (const talos of releases) {
    const [machine] = await lab.machines([`m-${talos}`], talos.toString());
    if (machine !== undefined) machines.set(talos.toString(), machine);
  }
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(randomConfigs(), fc.nat(), async (one, pick) => {
      const able = releases.filter((talos) => talos.accepts(Contract.parse(one.contract)));
      const talos = able[pick % able.length];
      const machine = machines.get(String(talos));
      if (talos === undefined || machine === undefined) throw new Error(`no machine takes ${one.contract}`);
      const config = patchedConfig(one, talos);
      if (config === undefined) return;
      const { error } = validateConfig(config, { mode: "metal", talos });
      const reply = lab.apply(machine, config.text, { dryRun: true });
      if (error === undefined) await expect(reply).resolves.toBeDefined();
      else await expect(reply).rejects.toThrow(error.split("\n")[0]);
      seen[error === undefined ? "taken" : "refused"] += 1;
    }),
    { numRuns: 60 },
  );
  expect(seen.taken).toBeGreaterThan(3);
  expect(seen.refused).toBeGreaterThan(3);
});
