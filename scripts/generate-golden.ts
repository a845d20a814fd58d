// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Contract } from "../talos/version/index.ts";
import { makeConfigs } from "./golden/configs.ts";
import { makePatches } from "./golden/patches.ts";
import { makeSeeded } from "./golden/seeded.ts";
import { Talosctl } from "./golden/talosctl.ts";
import { makeValidations } from "./golden/validations.ts";

// Asks real talosctls for golden data; test/golden/README.md has the commands.

const { values } = parseArgs({
  options: {
    talosctl: { type: "string", multiple: true, default: [] },
    seeded: { type: "boolean", default: false },
    seed: { type: "string", default: "20" },
    cases: { type: "string", default: "260" },
  },
});
if (values.talosctl.length === 0) throw new Error("name the real program: --talosctl <path of talosctl>");
const talosctls = values.talosctl.map((program) => new Talosctl(program));
const golden = fileURLToPath(new URL("../test/golden", import.meta.url));
try {
  if (values.seeded) {
    const made = makeSeeded(talosctls, { seed: Number(values.seed), cases: Number(values.cases) });
    process.stdout.write(`${made} cases through ${talosctls.map(({ version }) => version).join(" and ")}\n`);
  } else for (const talosctl of talosctls) process.stdout.write(makeOfRelease(talosctl));
} finally {
  for (const talosctl of talosctls) talosctl.close();
}

/** Configs of all contracts up to its own, patches and verdicts, in the files of the talosctl's minor release. */
function makeOfRelease(talosctl: Talosctl): string {
  const own = Contract.parse(talosctl.version);
  const all = Contract.all();
  const contracts = all.slice(0, all.findIndex((contract) => contract.equals(own)) + 1).map(String);
  const configs = makeConfigs(talosctl, golden, contracts);
  const patches = makePatches(talosctl, golden);
  const validations = makeValidations(talosctl, golden);
  return `talosctl ${talosctl.version}: ${configs} configs, ${patches} patches, ${validations} validations\n`;
}
