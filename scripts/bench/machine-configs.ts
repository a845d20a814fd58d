// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { generateSecrets, secretsStore } from "../../talos/secrets/index.ts";
import { defaultTalosVersion } from "../../talos/version/index.ts";
import { findProgram } from "../../test/support/programs.ts";
import { compiled } from "./compiled.ts";
import { fastest, type Row, succeed } from "./row.ts";
import { scratchFolder } from "./scratch-folder.ts";

const machines = 100;

export const machineConfigs: Row = {
  name: `machine configs for ${machines} machines, one secrets bundle`,
  anchor: "talosctl gen config, once per machine",
  budget: 0.1,
  async measure() {
    const folder = scratchFolder();
    const secrets = join(folder, "secrets.yaml");
    const options = { contract: defaultTalosVersion.contract, clock: systemClock, entropy: systemEntropy };
    await secretsStore({ kind: "file", path: secrets }).create(await generateSecrets(options));
    const script = await compiled("generate-configs.ts");
    const ours = await fastest(3, () => succeed(process.execPath, [script, secrets, String(machines)]));
    const talosctl = findProgram("talosctl");
    if (talosctl === undefined) return { ours, anchor: undefined, unit: "ms" };
    const args = ["gen", "config", "bench", "https://192.0.2.1:6443", "--with-secrets", secrets, "--with-docs=false"];
    const once = await fastest(5, () =>
      succeed(talosctl, [...args, "--with-examples=false", "--force", "--output-dir", join(folder, "out")]),
    );
    return { ours, anchor: once * machines, unit: "ms", note: `one talosctl run takes ${once.toFixed(0)} ms` };
  },
};
