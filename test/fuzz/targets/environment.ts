// SPDX-License-Identifier: Apache-2.0
import {
  addonsOf,
  changeVersion,
  type Environment,
  machinesOf,
  parseEnvironment,
  withCount,
} from "../../../model/index.ts";
import { mutateData, textOfData } from "../mutate-data.ts";
import { mutateText } from "../mutate-text.ts";
import type { Random } from "../random.ts";
import { seedData, seedFiles } from "../seeds.ts";
import { promise, type Target, textTrial } from "../target.ts";

const valid = [
  ...seedFiles("environments", /^(?!base).*\.yaml$/),
  ...seedFiles("examples/environments", /\.ya?ml$/, 1000),
];
// Most of the time something that would be taken, so that one change is all that is wrong.
const seeds = [...valid, ...valid, ...valid, ...seedFiles("test/invalid", /^[^/]+\.yaml$/, 1000)];
const texts = seeds.map(({ text }) => text);
const data = seedData(seeds);
const base = seedFiles("environments", /^base\.yaml$/)[0]?.text ?? "";
const references = new Map(seedFiles("test/invalid", /^files\/.*\.ya?ml$/).map(({ file, text }) => [file, text]));

/** Environment files: refused with their faults, or read into machines that have names of their own. */
export const environmentTarget: Target = {
  name: "environment",
  about: "environment files, through `parseEnvironment` and the edits of `scale` and `upgrade`",
  make(random) {
    const text = random.chance(0.5)
      ? mutateText(random.pick(texts), random, texts)
      : textOfData(mutateData(random.pick(data), random, data), random);
    const surroundings = surroundingsOf(random);
    return textTrial(text, (own) => tryEnvironment(own, surroundings), `${surroundings.about} `);
  },
};

interface Surroundings {
  readonly about: string;
  readonly read: (file: string) => string | undefined;
  readonly edits: boolean;
}

/** What stands beside the file: mostly nothing, at times a spoilt base, state or file that it names. */
function surroundingsOf(random: Random): Surroundings {
  const spoilt = random.below(12);
  const around = spoilt === 0 ? mutateText(base, random, texts) : spoilt < 6 ? base : undefined;
  const state = spoilt === 1 ? mutateText(stateSeed, random, texts) : undefined;
  const named = spoilt === 2 ? mutateText(random.pick(texts), random, texts) : undefined;
  return {
    about: spoilt < 3 ? JSON.stringify({ base: spoilt === 0 ? around : spoilt < 6, state, named }) : "",
    read: (file) => {
      if (file === "environments/base.yaml") return around;
      if (file === "state/sample.tfstate") return state;
      return references.get(`test/invalid/${file.replace(/^environments\//, "")}`) ?? named;
    },
    edits: random.chance(0.1),
  };
}

const stateSeed = `{"version":4,"resources":[{"mode":"managed","type":"talosmith_cluster","instances":[{"attributes":{"dns_domain":"a.b"}}]},
{"mode":"managed","type":"libvirt_domain","instances":[{"attributes":{}}]}]}`;

function tryEnvironment(text: string, { read, edits }: Surroundings): void {
  const readAll = (file: string) => (file === "environments/sample.yaml" ? text : read(file));
  const environment = parseEnvironment("sample", readAll);
  checkMachines(environment);
  addonsOf(environment);
  if (edits) checkEdits(environment, text, readAll);
}

function checkMachines(environment: Environment): void {
  const names = machinesOf(environment).map(({ name }) => name);
  promise(new Set(names).size === names.length, "every machine has a name of its own");
  promise(
    names.every((name) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)),
    "every machine's name is a host name",
  );
}

function checkEdits(environment: Environment, text: string, read: (file: string) => string | undefined): void {
  const { after } = changeVersion("sample", "talosVersion", environment.cluster.talosVersion, read);
  promise(after.name === "sample", "an edited environment is the same one");
  const [pool] = environment.workers;
  if (pool === undefined) return;
  const scaled = withCount(text, "environments/sample.yaml", pool.name, 2);
  const reread = parseEnvironment("sample", (file) => (file === "environments/sample.yaml" ? scaled : read(file)));
  promise(reread.workers.find(({ name }) => name === pool.name)?.count === 2, "a pool has the count that was set");
}
