// SPDX-License-Identifier: Apache-2.0
import {
  availableVersions,
  changeVersion,
  EnvironmentError,
  fileReader,
  formatFault,
  listEnvironments,
  loadEnvironment,
  type VersionChange,
  type VersionField,
} from "../../model/index.ts";
import { saveTexts, withSavedTexts } from "../../workspace/environment-file.ts";
import { notDeployed, projectRoot } from "../../workspace/project.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, question } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { table } from "../output/table.ts";
import { deployThrough, openExistingManager } from "./change.ts";
import { showPlan } from "./plan.ts";

export interface UpgradeFlags extends ApprovalFlags {
  readonly to: string;
  readonly dryRun: boolean;
  readonly writeOnly: boolean;
  readonly json: boolean;
}

/**
 * The file first, then the machines: the other way round, the next deploy would go back to the file's older version. A
 * run that was killed is continued by the same command.
 */
export async function upgradeTo(
  field: VersionField,
  name: string,
  flags: UpgradeFlags,
  context: CommandContext,
): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const change = changeVersion(name, field, flags.to, fileReader(root));
  for (const line of consequences(root, field, change)) context.stderr.write(`${line}\n`);
  for (const warning of change.after.warnings) context.stderr.write(`Warning: ${formatFault(warning)}\n\n`);
  await applyEdit({ root, name, texts: change.texts, flags, context });
}

const products: readonly (readonly [field: VersionField, word: string, product: string])[] = [
  ["talosVersion", "talos", "Talos"],
  ["kubernetesVersion", "k8s", "Kubernetes"],
];

/** Shows the versions that an environment can be upgraded to, and asks for one. */
export async function chooseUpgrade(
  name: string,
  flags: Omit<UpgradeFlags, "to">,
  context: CommandContext,
): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const read = fileReader(root);
  const { cluster } = loadEnvironment(root, name);
  const found = products.map(([field, word, product]) => ({
    field,
    word,
    line: [product, cluster[field], availableVersions(name, field, read).join(", ") || "none"] as const,
    versions: availableVersions(name, field, read),
  }));
  context.stdout.write(
    table(
      ["PRODUCT", "VERSION", "UPGRADES"],
      found.map(({ line }) => [...line]),
    ),
  );
  const choices = found.flatMap(({ field, word, versions }) =>
    versions.map((to) => ({ field, to, typed: `${word} ${to}` })),
  );
  if (choices.length === 0) return;
  if (!context.stderr.isTerminal || !process.stdin.isTTY) {
    for (const { field, to } of choices) {
      const word = products.find(([known]) => known === field)?.[1];
      context.stderr.write(`talosmith upgrade ${word} ${name} --to ${to}\n`);
    }
    return;
  }
  const example = choices[0]?.typed ?? "";
  const answer = (
    await question(`\nUpgrade to which version, such as "${example}"? Empty for none: `, context.signal)
  )?.trim();
  const chosen = choices.find(({ typed }) => typed === answer);
  if (chosen !== undefined) return upgradeTo(chosen.field, name, { ...flags, to: chosen.to }, context);
  context.stderr.write("Nothing was changed.\n");
  context.exit(answer ? 1 : 0);
}

export interface Edit {
  readonly root: string;
  readonly name: string;
  /** New contents of files. */
  readonly texts: VersionChange["texts"];
  readonly flags: Omit<UpgradeFlags, "to">;
  readonly context: CommandContext;
}

/** Writes files, then plans and applies what follows from them. The files stay as they were unless something is applied. */
export async function applyEdit({ root, name, texts, flags, context }: Edit): Promise<void> {
  const started = performance.now();
  if (flags.writeOnly) {
    if (!flags.dryRun) await saveTexts(root, texts);
    context.stderr.write(flags.dryRun ? "Nothing was changed.\n" : `Now: talosmith deploy ${name}\n`);
    return;
  }
  const before = openWorkspace(name, context);
  await clearAbandonedState(before);
  const manager = await openExistingManager(before, context);
  if (manager.isNew) throw notDeployed(name, "there is nothing to change");
  await withSavedTexts(root, texts, async (keep) => {
    const workspace = openWorkspace(name, context, { existing: false });
    if (!flags.dryRun) {
      await deployThrough({ workspace, manager, flags, context, started, begun: keep });
      return;
    }
    await showPlan(workspace, manager, { kubernetes: true, raw: false, json: flags.json }, context);
    context.exit(0);
  });
}

/** What changes in the files, and what follows from it that was not asked for. */
export function consequences(root: string, field: VersionField, change: VersionChange): string[] {
  const { before, after, file, texts, images } = change;
  if (texts.size === 0) return [`${file} has ${field} ${after.cluster[field]} already.`];
  const lines = [`${file}: ${field} ${before.cluster[field]} → ${after.cluster[field]}`];
  for (const { path, from, to } of images) lines.push(`${path.join(".")} ${from} → ${to}`);
  if (field === "talosVersion") lines.push(`The configs keep their contract, ${after.cluster.configContract}.`);
  const [now, next] = [before.cluster.kubernetesVersion, after.cluster.kubernetesVersion];
  if (field === "talosVersion" && now !== next) {
    lines.push(`Warning: the file names no Kubernetes version, so Kubernetes goes along: ${now} → ${next}.`);
  }
  const others = listEnvironments(root).filter((other) => other !== before.name && follows(root, other, field, texts));
  if (others.length > 0) {
    const [take, upgrades] =
      others.length === 1 ? ["takes", "its next deploy upgrades it"] : ["take", "their next deploys upgrade them"];
    lines.push(`Warning: ${others.join(", ")} ${take} the version from ${file} as well: ${upgrades}, too.`);
    const own = `environments/${before.name}.yaml`;
    const line = `cluster.${field}: ${after.cluster[field]}`;
    if (file !== own) lines.push(`  To upgrade ${before.name} alone, set ${line} in ${own} instead, and deploy it.`);
  }
  return lines;
}

/** Whether another environment changes with these files. One that has faults is not to be judged. */
function follows(root: string, name: string, field: VersionField, texts: VersionChange["texts"]): boolean {
  try {
    const now = loadEnvironment(root, name).cluster[field];
    return loadEnvironment(root, name, texts).cluster[field] !== now;
  } catch (error) {
    if (error instanceof EnvironmentError) return false;
    throw error;
  }
}
