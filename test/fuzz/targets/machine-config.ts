// SPDX-License-Identifier: Apache-2.0
import {
  diffConfigs,
  encodeTalosconfig,
  MachineConfig,
  parseTalosconfig,
  readMachineFacts,
  redactConfig,
  secretsFromConfig,
  validateConfig,
} from "../../../talos/config/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { mutateData, textOfData } from "../mutate-data.ts";
import { mutateText } from "../mutate-text.ts";
import { seedData, seedFiles } from "../seeds.ts";
import { afterwards, promise, type Target, textTrial } from "../target.ts";

const seeds = [...seedFiles("test/golden/inputs", /\.yaml$/), ...seedFiles("test/golden/validate", /\.yaml$/, 1700)];
const texts = seeds.map(({ text }) => text);
const data = seedData(seeds);
const talosconfig = `context: a
contexts:
  a:
    endpoints: [10.0.0.1]
    nodes: [10.0.0.2]
    ca: Zm9v
    crt: Zm9v
    key: Zm9v
`;

/** Machine configs and talosconfigs: refused, or read, checked, compared and shown without a secret. */
export const machineConfigTarget: Target = {
  name: "machine-config",
  about: "machine configs through check, redaction, comparison and facts; talosconfigs",
  make(random) {
    if (random.chance(0.1)) return textTrial(mutateText(talosconfig, random, texts), tryTalosconfig, "talosconfig ");
    const seed = random.pick(texts);
    const text = random.chance(0.6)
      ? mutateText(seed, random, texts)
      : textOfData(mutateData(random.pick(data), random, data), random);
    const check = random.pick(checks);
    return textTrial(text, (config) => tryConfig(config, seed, check));
  },
};

type Check = (text: string, other: string) => void;

/** Reading is most of the time: each input takes one of these ways. */
const checks: readonly Check[] = [
  function redaction(text) {
    const redacted = redactConfig(new MachineConfig(text, "config.yaml"));
    const twice = afterwards("a redacted config can be read", () => redactConfig(new MachineConfig(redacted)));
    promise(twice === redacted, "a redacted config stays as it is");
  },
  function comparison(text, other) {
    if (text.length % 4 === 0)
      promise(
        diffConfigs(new MachineConfig(text), new MachineConfig(text)).length === 0,
        "a config is equal to itself",
      );
    diffConfigs(new MachineConfig(text), new MachineConfig(other));
  },
  function facts(text) {
    orRefused(() => readMachineFacts(text, "config.yaml"));
    orRefused(() => secretsFromConfig(text, "config.yaml"));
  },
];

function tryConfig(text: string, other: string, check: Check): void {
  validateConfig(new MachineConfig(text, "config.yaml"), { mode: "metal" });
  check(text, other);
}

/** The config is one; that it tells nothing to this reader is no reason to stop. */
function orRefused(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof TalosError) || error.code === "internal") throw error;
  }
}

function tryTalosconfig(text: string): void {
  const read = parseTalosconfig(text, "talosconfig");
  const written = encodeTalosconfig(read);
  const reread = afterwards("a written talosconfig can be read", () => parseTalosconfig(written, "talosconfig"));
  promise(encodeTalosconfig(reread) === written, "a talosconfig that was written is read as it was");
}
