// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Contract } from "../talos/version/index.ts";
import { makeConfigs } from "./golden/configs.ts";
import { makePatches } from "./golden/patches.ts";
import { Talosctl } from "./golden/talosctl.ts";
import { makeValidations } from "./golden/validations.ts";

// Asks a real talosctl for the golden data of its minor release: npm run generate:golden -- --talosctl <program>

const { values } = parseArgs({ options: { talosctl: { type: "string" } } });
if (values.talosctl === undefined) throw new Error("name the real program: --talosctl <path of talosctl>");
const talosctl = new Talosctl(values.talosctl);
const golden = fileURLToPath(new URL("../test/golden", import.meta.url));
const own = Contract.parse(talosctl.version);
const contracts = Contract.all()
  .slice(0, Contract.all().findIndex((contract) => contract.equals(own)) + 1)
  .map(String);
try {
  const configs = makeConfigs(talosctl, golden, contracts);
  const patches = makePatches(talosctl, golden);
  const validations = makeValidations(talosctl, golden);
  process.stdout.write(
    `talosctl ${talosctl.version}: ${configs} configs, ${patches} patches, ${validations} validations\n`,
  );
} finally {
  talosctl.close();
}
