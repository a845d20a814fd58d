// SPDX-License-Identifier: Apache-2.0
import { inReadingOrder, machineView } from "../../engine/index.ts";
import { availableVersions, fileReader, loadEnvironment, type VersionField } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { observeCluster } from "../../watch/index.ts";
import { projectRoot } from "../../workspace/project.ts";
import { type DeployedCluster, openWorkspace } from "../../workspace/workspace.ts";
import { question } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { jsonText, tableOf } from "../output/table.ts";
import { newerVersions, type UpgradeFlags, upgradeTo } from "./upgrade.ts";

const products = [
  { field: "talosVersion", word: "talos", product: "Talos" },
  { field: "kubernetesVersion", word: "k8s", product: "Kubernetes" },
] as const;

/** A product with its version in the file, and the versions that it can be upgraded to, oldest first. */
interface Upgradable {
  readonly field: VersionField;
  readonly word: string;
  readonly product: string;
  readonly version: string;
  readonly versions: readonly string[];
}

interface Choice {
  readonly field: VersionField;
  readonly to: string;
}

/** Shows the versions that an environment can be upgraded to, and asks for one. */
export async function chooseUpgrade(
  name: string,
  flags: Omit<UpgradeFlags, "to">,
  context: CommandContext,
): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const { cluster } = loadEnvironment(root, name);
  if (!flags.json) context.stderr.write(`Checking the upgrades of ${name}.\n`);
  const found = products.map((each) => ({
    ...each,
    version: cluster[each.field],
    versions: availableVersions(name, each.field, fileReader(root)),
  }));
  const unfinished = await unfinishedUpgrades(name, found, context);
  showUpgrades(name, found, unfinished, flags, context);
  const commands = unfinished.length > 0 ? [`talosmith deploy ${name}`] : commandsFor(name, found);
  if (flags.yes) return refuseYes(commands, context);
  if (flags.json || commands.length === 0) return;
  const isAsked = context.stderr.isTerminal && process.stdin.isTTY && unfinished.length === 0;
  if (!isAsked) return context.stderr.write(commands.map((command) => `${command}\n`).join(""));
  const chosen = await askForUpgrade(found, (text) => question(text, context.signal), context);
  if (chosen !== undefined) return upgradeTo(chosen.field, name, { ...flags, to: chosen.to }, context);
  context.stderr.write("Nothing was changed.\n");
}

function showUpgrades(
  name: string,
  found: readonly Upgradable[],
  unfinished: readonly Unfinished[],
  { json }: { readonly json: boolean },
  context: CommandContext,
): void {
  if (json) {
    const upgrades = found.map(({ product, version, versions }) => ({ product, version, upgrades: versions }));
    context.stdout.write(jsonText({ v: 1, environment: name, products: upgrades, unfinished }));
    return;
  }
  const rows = found.map(({ versions, ...each }) => ({ ...each, upgrades: versions.join(", ") || "none" }));
  context.stdout.write(tableOf(["product", "version", "upgrades"], rows));
  if (unfinished.length === 0) context.stderr.write(`${newerVersions}\n`);
  for (const { product, version, done, machines } of unfinished)
    context.stderr.write(
      `${done} of ${machines} machines run ${product} ${version}, the version in the file. To bring the others to it:\n`,
    );
}

function commandsFor(name: string, found: readonly Upgradable[]): readonly string[] {
  return found.flatMap(({ word, versions }) => versions.map((to) => `talosmith upgrade ${word} ${name} --to ${to}`));
}

/** Without a version there is nothing that could be approved beforehand. */
function refuseYes(commands: readonly string[], context: CommandContext): void {
  const ways = commands.length === 0 ? "There is none to choose." : `Choose one:\n${commands.join("\n")}`;
  context.stderr.write(`error: --yes needs a version\n${ways}\n`);
  context.exit(64);
}

interface Unfinished {
  readonly product: string;
  readonly version: string;
  /** How many machines have this version, of all whose version is known. */
  readonly done: number;
  readonly machines: number;
}

/** Versions of the file that some machines do not have yet. Of an environment that is not deployed, none. */
async function unfinishedUpgrades(
  name: string,
  found: readonly Upgradable[],
  context: CommandContext,
): Promise<readonly Unfinished[]> {
  const workspace = openWorkspace(name, context);
  let deployed: DeployedCluster;
  try {
    deployed = await workspace.deployed();
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return [];
    throw error;
  }
  const { observed } = await observeCluster(workspace);
  const views = inReadingOrder(deployed.desired.machines).map((machine) => machineView(machine, observed));
  return found.flatMap(({ field, product, version }) => {
    const running = views.flatMap((view) => (field === "talosVersion" ? view.talosVersion : view.kubeletVersion) ?? []);
    const done = running.filter((each) => bare(each) === bare(version)).length;
    return done === running.length ? [] : [{ product, version, done, machines: running.length }];
  });
}

/** Asks until an answer names a version; undefined for an empty one. */
export async function askForUpgrade(
  found: readonly Upgradable[],
  ask: (text: string) => Promise<string | undefined>,
  { stderr }: Pick<CommandContext, "stderr">,
): Promise<Choice | undefined> {
  const choices = found.flatMap(({ word, versions }) => versions.map((version) => `${word} ${version}`));
  while (true) {
    const answer = (await ask(`\nUpgrade to which version, such as "${choices[0]}"? Empty for none: `))?.trim();
    if (!answer) return undefined;
    const chosen = chosenUpgrade(answer, found);
    if (chosen !== undefined) return chosen;
    stderr.write(`"${answer}" is not one of: ${choices.join(", ")}.\n`);
  }
}

/** `talos v1.14.1`, `1.14.1`, `1.14` or `k8s latest`: a version, or the newest one that an answer fits. */
function chosenUpgrade(answer: string, found: readonly Upgradable[]): Choice | undefined {
  const words = answer.toLowerCase().split(/\s+/);
  const text = bare(words.at(-1) ?? "");
  const named = ({ word, product }: Upgradable) => [word, product.toLowerCase()].includes(words[0] ?? "");
  const meant = words.length === 1 ? found : found.filter(named);
  const fits = (version: string) => text === "latest" || `${bare(version)}.`.startsWith(`${text}.`);
  const newest = meant.flatMap(({ field, versions }) => {
    const to = versions.findLast(fits);
    return to === undefined ? [] : [{ field, to }];
  });
  return words.length <= 2 && newest.length === 1 ? newest[0] : undefined;
}

const bare = (version: string) => version.replace(/^v/, "");
