// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import {
  type Environment,
  EnvironmentError,
  editValue,
  fileReader,
  formatFault,
  listEnvironments,
  loadEnvironment,
  loadExistingEnvironment,
} from "../model/index.ts";
import { type Change, type Mode, validateConfig } from "../talos/config/index.ts";
import {
  compareMeaning,
  hasLinkDocuments,
  type MigrationTarget,
  type NewDefault,
  newDefaults,
  wordsOf,
} from "../talos/config/migrate/index.ts";
import { TalosError } from "../talos/errors.ts";
import { generateThrowawaySecrets, type SecretsBundle } from "../talos/secrets/index.ts";
import { type Contract, contractOf, TalosVersion } from "../talos/version/index.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { type RenderedMachine, renderedMachines, withoutPatches } from "./migrate-configs.ts";
import { type LeftSetting, type MovedSetting, MovingPatches } from "./migrate-patches.ts";

/** What becomes of a default of new clusters that the newer contract has. */
export interface PlannedDefault {
  readonly id: string;
  readonly effect: string;
  readonly risk: string;
  /** `always`: the contract does not allow to keep it off. */
  readonly state: "off" | "on" | "always";
}

/** A move to another contract, before anything is written. */
export interface MigrationPlan {
  readonly from: Contract;
  readonly to: Contract;
  /** The environment as it would be. */
  readonly after: Environment;
  /** Files that change, by their paths from the root; with `configContract`, unless something is in the way. */
  readonly texts: ReadonlyMap<string, string>;
  readonly moved: readonly MovedSetting[];
  readonly left: readonly LeftSetting[];
  readonly defaults: readonly PlannedDefault[];
  readonly notes: readonly string[];
  /** How many configs were compared. */
  readonly machines: number;
  /** Why it cannot be done: what the contract would refuse, and what would mean something else. */
  readonly obstacles: readonly string[];
}

/**
 * Secrets for configs that no real machine gets: neither a plan nor a rehearsal needs those of the cluster. They are made
 * once, when they are needed.
 */
export function throwawaySecrets({ environment, context }: EnvironmentOnDisk): () => Promise<SecretsBundle> {
  const { clock, entropy } = context;
  let made: Promise<SecretsBundle> | undefined;
  return () => {
    made ??= generateThrowawaySecrets({ contract: contractOf(environment.cluster), clock, entropy });
    return made;
  };
}

/**
 * Plans the move of an environment to a newer contract, together with the environments that join its cluster. Throws
 * where there is no way from one to the other. `enabled`: ids of new defaults that a person has chosen.
 */
export async function planMigration(
  place: EnvironmentOnDisk,
  to: Contract,
  enabled: readonly string[],
  makeSecrets: () => Promise<SecretsBundle>,
): Promise<MigrationPlan> {
  const { root, environment, context } = place;
  const from = contractOf(environment.cluster);
  refuseWrongWay(environment, from, to);
  if (to.equals(from)) return unchanged(environment, from, to);
  const secrets = await makeSecrets();
  const environments = [environment, ...followersOf(root, environment)];
  const before = await Promise.all(
    environments.map((one) => renderedMachines({ ...place, environment: one }, secrets)),
  );
  const target = await targetOf(place, to, secrets);
  const moving = new MovingPatches(root, environments, target);
  await moving.run(context.env);
  const plan = new Migration(place, environments, before, { from, to, secrets, moving });
  return plan.run(enabled);
}

function refuseWrongWay({ name, joins, cluster }: Environment, from: Contract, to: Contract): void {
  if (joins !== undefined)
    throw new TalosError("failed-precondition", `${name} takes its config contract from ${joins.name}`, {
      hint: `Migrate both with: talosmith config migrate ${joins.name} --to ${to}`,
    });
  if (to.compare(from) < 0)
    throw new TalosError(
      "failed-precondition",
      `${name} has the config contract ${from}: there is no way back to ${to}`,
      {
        hint: "To undo a migration that is not deployed yet, restore the files from version control.",
      },
    );
  const talos = TalosVersion.parse(cluster.talosVersion);
  if (to.compare(talos.contract) > 0)
    throw new TalosError("failed-precondition", `Talos ${talos} of ${name} does not read configs of contract ${to}`, {
      hint: `Upgrade Talos first: talosmith upgrade talos ${name} --to ${TalosVersion.newestOf(to)}`,
    });
}

function unchanged(environment: Environment, from: Contract, to: Contract): MigrationPlan {
  const nothing = { moved: [], left: [], defaults: [], notes: [], machines: 0, obstacles: [] };
  return { from, to, after: environment, texts: new Map(), ...nothing };
}

/** Environments of workers that join the cluster: they take their contract from it. */
function followersOf(root: string, { name }: Environment): readonly Environment[] {
  return listEnvironments(root).flatMap((other) => {
    if (other === name) return [];
    try {
      const environment = loadExistingEnvironment(root, other);
      return environment.joins?.name === name ? [environment] : [];
    } catch (error) {
      if (error instanceof EnvironmentError) return [];
      throw error;
    }
  });
}

/** What patches are moved into: the documents of a control plane and of a worker without any patch of a person. */
async function targetOf(
  place: EnvironmentOnDisk,
  contract: Contract,
  secrets: SecretsBundle,
): Promise<MigrationTarget> {
  const bare = withoutPatches(place.environment);
  const environment = { ...bare, cluster: { ...bare.cluster, configContract: contract.toString() } };
  const machines = await renderedMachines({ ...place, environment }, secrets);
  const documents = (role: RenderedMachine["role"]) =>
    (machines.find((machine) => machine.role === role) ?? machines[0])?.config.decode() ?? [];
  return { contract, base: { controlplane: documents("controlplane"), worker: documents("worker") } };
}

interface Inputs {
  readonly from: Contract;
  readonly to: Contract;
  readonly secrets: SecretsBundle;
  readonly moving: MovingPatches;
}

interface Pair {
  readonly environment: Environment;
  /** Of the release that the machine runs. */
  readonly talos: Contract;
  readonly before: RenderedMachine;
  readonly after: RenderedMachine;
}

class Migration {
  readonly #place: EnvironmentOnDisk;
  readonly #environments: readonly Environment[];
  readonly #before: readonly (readonly RenderedMachine[])[];
  readonly #inputs: Inputs;

  constructor(
    place: EnvironmentOnDisk,
    environments: readonly Environment[],
    before: readonly (readonly RenderedMachine[])[],
    inputs: Inputs,
  ) {
    this.#place = place;
    this.#environments = environments;
    this.#before = before;
    this.#inputs = inputs;
  }

  async run(enabled: readonly string[]): Promise<MigrationPlan> {
    const { from, to, moving } = this.#inputs;
    const obstacles: string[] = [];
    const defaults: PlannedDefault[] = [];
    const pairs = await this.#pairs(obstacles);
    if (pairs !== undefined) {
      for (const one of newDefaults) {
        const switched = pairs.filter((pair) => switchesOn(pair, one));
        if (switched.length === 0) continue;
        const off = one.off(to);
        const state = off === undefined ? "always" : enabled.includes(one.id) ? "on" : "off";
        const words = wordsOf(one);
        defaults.push({ id: one.id, effect: words.effect, risk: words.risk, state });
      }
      // Each goes before those that were put there already.
      for (const { id, state, effect } of [...defaults].reverse()) {
        const one = newDefaults.find((known) => known.id === id);
        if (state === "off" && one !== undefined) this.#keepOff(one, one.off(to) ?? [], pairs, effect);
      }
    }
    const final = pairs === undefined ? undefined : await this.#pairs(obstacles);
    if (final !== undefined) obstacles.push(...this.#differences(final, defaults), ...this.#refusals(final));
    const texts = this.#texts();
    const loses = (final ?? []).some(
      ({ before, after }) => !hasLinkDocuments(before.config.decode()) && hasLinkDocuments(after.config.decode()),
    );
    const links =
      "Contract v1.12 and newer have documents about network links: Talos then runs DHCP only on links that they name.";
    return {
      from,
      to,
      after: final === undefined ? this.#place.environment : this.#load(this.#place.environment, texts),
      texts,
      moved: moving.moved,
      left: moving.left,
      defaults,
      notes: loses ? [...moving.notes, links] : moving.notes,
      machines: this.#before.flat().length,
      obstacles: [...new Set(obstacles)],
    };
  }

  /** The files as they would be, the new contract among them. */
  #texts(): ReadonlyMap<string, string> {
    const { from, to, moving } = this.#inputs;
    const { root, environment } = this.#place;
    const { file } = environment;
    const now = moving.texts.get(file) ?? fileReader(root)(file) ?? "";
    const bumped = editValue(now, file, ["cluster", "configContract"], to.toString());
    const recorded = editValue(bumped, file, ["cluster", "previousContract"], from.toString(), "configContract");
    // Last: until it is written, the files mean what they did, or are refused.
    return new Map([...[...moving.texts].filter(([other]) => other !== file), [file, recorded]]);
  }

  #load(environment: Environment, texts: ReadonlyMap<string, string>): Environment {
    return loadEnvironment(this.#place.root, environment.name, texts);
  }

  /** Every machine's config before and after; undefined when the patches cannot be applied any more. */
  async #pairs(obstacles: string[]): Promise<readonly Pair[] | undefined> {
    const texts = this.#texts();
    const pairs: Pair[] = [];
    try {
      for (const [index, environment] of this.#environments.entries()) {
        const place = { ...this.#place, environment: this.#load(environment, texts) };
        const after = await renderedMachines(place, this.#inputs.secrets, texts);
        const talos = TalosVersion.parse(environment.cluster.talosVersion).contract;
        for (const before of this.#before[index] ?? []) {
          const same = after.find(({ name }) => name === before.name);
          if (same !== undefined) pairs.push({ environment, talos, before, after: same });
        }
      }
    } catch (error) {
      if (error instanceof EnvironmentError) obstacles.push(...error.faults.map((fault) => formatFault(fault)));
      else if (error instanceof TalosError)
        obstacles.push(error.hint ? `${error.message} (${error.hint})` : error.message);
      else throw error;
      return undefined;
    }
    return pairs;
  }

  /** Before the patches of a person, so that a machine on which they switch it on keeps it. */
  #keepOff(one: NewDefault, off: readonly object[], pairs: readonly Pair[], effect: string): void {
    const { moving, from } = this.#inputs;
    const comment = `# As with contract ${from}. Without this: ${effect}\n`;
    const texts = off.map((document, index) => `${index === 0 ? comment : ""}${stringify(document, { lineWidth: 0 })}`);
    for (const environment of this.#environments) {
      const own = pairs.filter((pair) => pair.environment === environment);
      const switched = own.filter((pair) => switchesOn(pair, one));
      const relevant = own.filter(({ before }) => !one.controlPlane || before.role === "controlplane");
      if (switched.length === 0) continue;
      if (switched.length === relevant.length) {
        const list = one.controlPlane ? "controlPlane" : "all";
        moving.prepend(environment, ["cluster", "patches", list], texts);
      } else
        for (const { before } of switched)
          moving.prepend(environment, ["cluster", "patches", "machines", before.name], texts);
    }
  }

  #differences(pairs: readonly Pair[], defaults: readonly PlannedDefault[]): readonly string[] {
    const allowed = new Set(defaults.filter(({ state }) => state !== "off").map(({ id }) => id));
    const places = new Map<string, string[]>();
    const note = (what: string, { before }: Pair) => places.set(what, [...(places.get(what) ?? []), before.name]);
    for (const pair of pairs) {
      const { changes, switchedOn } = compareMeaning(pair.before.config, pair.after.config, pair.talos);
      for (const change of changes) note(inWords(change), pair);
      for (const id of switchedOn) if (!allowed.has(id)) note(`the new default ${id} would be on`, pair);
    }
    return [...places].map(([what, machines]) => `${what} (${namesOf(machines)})`);
  }

  /** What Talos would not accept any more. */
  #refusals(pairs: readonly Pair[]): readonly string[] {
    const { environment } = this.#place;
    const talos = TalosVersion.parse(environment.cluster.talosVersion);
    const options = { mode: modeOf(environment), talos, installed: true } as const;
    const errorsOf = ({ config }: RenderedMachine) =>
      validateConfig(config, options).findings.flatMap(({ severity, document, path, message }) =>
        severity === "error" ? [`${[document, path].filter(Boolean).join(" ")}: ${message}`.replace(/^: /, "")] : [],
      );
    const found = new Map<string, string[]>();
    for (const { before, after } of pairs) {
      const known = new Set(errorsOf(before));
      for (const error of errorsOf(after))
        if (!known.has(error)) found.set(error, [...(found.get(error) ?? []), after.name]);
    }
    return [...found].map(([error, machines]) => `${error} (${namesOf(machines)})`);
  }
}

function switchesOn({ before, after, talos }: Pair, one: NewDefault): boolean {
  return one.isOn(after.config.decode(), talos) && !one.isOn(before.config.decode(), talos);
}

/** Release facts describe each default under the document that has it. */
function inWords({ document, path, kind }: Change): string {
  return `${[document, path].filter(Boolean).join(" ")} would be ${kind}`;
}

function namesOf(machines: readonly string[]): string {
  const shown = machines.slice(0, 3).join(", ");
  return machines.length > 3 ? `${shown} and ${machines.length - 3} more` : shown;
}

function modeOf({ kind }: Environment): Mode {
  return kind === "aws" ? "cloud" : kind === "container" ? "container" : "metal";
}
