// SPDX-License-Identifier: Apache-2.0
import { applyPatches, MachineConfig, parsePatch, redactConfig, secretsInPatch } from "../../../talos/config/index.ts";
import { parseYaml } from "../../../talos/yaml/index.ts";
import { type Data, hostileData } from "../hostile-values.ts";
import { mutateData, textOfData } from "../mutate-data.ts";
import { mutateText } from "../mutate-text.ts";
import type { Random } from "../random.ts";
import { seedData, seedFiles } from "../seeds.ts";
import { afterwards, promise, type Target, textTrial } from "../target.ts";

const configs = seedFiles("test/golden/inputs", /^(mini|multi)\.yaml$/);
const seeds = seedFiles("test/golden/patch", /patch.*\.(yaml|json)$/);
const texts = seeds.map(({ text }) => text);
const data = seedData(seeds);
const pointers = [
  "",
  "/",
  "/machine",
  "/machine/kubelet",
  "/machine/kubelet/extraArgs",
  "/machine/network/interfaces/0",
  "/machine/network/interfaces/-",
  "/machine/network/interfaces/99999999999999999999",
  "/machine/files/-",
  "/cluster/~1~0",
  "/a/b/c",
  "/__proto__",
  "/__proto__/polluted",
  "/<<",
  "/machine/<<",
  "/a",
  "/constructor/prototype/polluted",
  "machine",
] as const;

/** Patches of both kinds: refused, or applied to a config that can still be read. */
export const patchTarget: Target = {
  name: "patch",
  about: "strategic merge and JSON patches onto machine configs",
  make(random) {
    const config = random.pick(configs).text;
    const text = patchText(random);
    return textTrial(text, (patch) => tryPatch(config, patch), `onto ${config.length} bytes of config: `);
  },
};

function patchText(random: Random): string {
  switch (random.below(3)) {
    case 0:
      return mutateText(random.pick(texts), random, texts);
    case 1:
      return textOfData(mutateData(random.pick(data), random, data), random);
    default:
      return JSON.stringify(random.chance(0.05) ? copies(random) : operations(random));
  }
}

const operations = (random: Random) => Array.from({ length: 1 + random.below(12) }, () => operation(random));

/** Each copy holds the one before: the whole doubles with every operation. */
function copies(random: Random): readonly Data[] {
  const from = random.pick(["", "/machine"]);
  const count = random.pick([3, 20, 60]);
  return Array.from({ length: count }, (_, index) => ({ op: "copy", from, path: `${from}/x${index}` }));
}

function operation(random: Random): Data {
  const op = random.pick(["add", "remove", "replace", "move", "copy", "copy", "test", "merge"]);
  const value = random.chance(0.1) ? {} : { value: random.pick([random.pick(data), hostileData(random)]) };
  return { op, path: random.pick(pointers), from: random.pick(pointers), ...value };
}

function tryPatch(config: string, text: string): void {
  const patch = parsePatch(text, "patch.yaml");
  const once = applyPatches(config, [patch], "config.yaml");
  if (patch.kind === "json" || text.length % 4 === 0)
    promise(applyPatches(config, [patch], "config.yaml") === once, "a patch does the same each time");
  // What was merged is a config; operations may have left anything that is YAML.
  afterwards("a patched config can be read", () => {
    if (patch.kind === "json") parseYaml(once, "patched.yaml");
    else if (once !== "") redactConfig(new MachineConfig(once, "patched.yaml"));
  });
  if (text.length % 4 === 1) secretsInPatch(text, "patch.yaml");
}
