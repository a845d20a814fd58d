// SPDX-License-Identifier: Apache-2.0
import {
  availableVersions,
  changeVersion,
  EnvironmentError,
  formatFault,
  listEnvironments,
  loadEnvironment,
  type ReadFile,
  type VersionChange,
  type VersionField,
} from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { type EditedEnvironment, firstReads } from "../../workspace/environment-file.ts";
import { refuseUnfinishedMigration } from "../../workspace/migration-journal.ts";
import { notDeployed, projectRoot } from "../../workspace/project.ts";
import { mendState } from "../../workspace/terraform/abandoned-state.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { deployThrough, forRun, openExistingManager, type RunFlags } from "./change.ts";
import { endDryRun, showPlan } from "./plan.ts";

export interface UpgradeFlags extends ApprovalFlags, RunFlags {
  readonly to?: string | undefined;
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
  const before = firstReads(root);
  if (flags.to === undefined) return missingVersion(field, name, before, context);
  const change = versionChange(field, name, flags.to, before);
  const lines = consequences(root, field, change);
  const edit = { environment: change.after, texts: change.texts, before };
  const command = `upgrade ${fieldWords[field]} ${name} --to ${flags.to}`;
  await applyEdit({ name, edit, lines, command, flags, context });
}

/** As commander says it of a required option, with the versions there are. */
function missingVersion(field: VersionField, name: string, read: ReadFile, context: CommandContext): void {
  context.stderr.write(`error: required option '--to <version>' not specified\n${versionsHint(field, name, read)}\n`);
  context.exit(64);
}

/** What is not a version is answered with those there are. */
function versionChange(field: VersionField, name: string, to: string, read: ReadFile): VersionChange {
  try {
    return changeVersion(name, field, to, read);
  } catch (cause) {
    if (!(cause instanceof TalosError) || cause instanceof EnvironmentError || cause.code !== "invalid-input")
      throw cause;
    throw new TalosError(cause.code, cause.message, { hint: versionsHint(field, name, read), cause });
  }
}

function versionsHint(field: VersionField, name: string, read: ReadFile): string {
  const versions = availableVersions(name, field, read);
  const found = versions.length === 0 ? "none" : versions.join(", ");
  return `Versions that ${name} can be upgraded to: ${found}. A minor version, such as ${minorExamples[field]}, and latest mean the newest of these. ${newerVersions}`;
}

/** What a list of versions leaves out. */
export const newerVersions = "These are the versions that talosmith knows; a newer patch version can be given exactly.";

const fieldWords: Readonly<Record<VersionField, string>> = { talosVersion: "talos", kubernetesVersion: "k8s" };

const minorExamples: Readonly<Record<VersionField, string>> = { talosVersion: "1.13", kubernetesVersion: "1.36" };

export interface Edit {
  readonly name: string;
  readonly edit: EditedEnvironment;
  /** What the edit changes, for people: shown once it is known that the change can be made. */
  readonly lines: readonly string[];
  /** Which command makes the change, without our name and flags. */
  readonly command: string;
  readonly flags: Omit<UpgradeFlags, "to">;
  readonly context: CommandContext;
}

/** Plans with other texts in files; writes them once the plan is approved, and applies it. */
export async function applyEdit({ name, edit, lines, command, flags, context }: Edit): Promise<void> {
  const started = performance.now();
  const typed = flags.kubernetes ? command : `${command} --no-kubernetes`;
  const before = openWorkspace(name, context);
  const workspace = forRun(before.edited(edit), flags);
  // As a deploy of the edited file shows them.
  const warnings = edit.environment.warnings.map((warning) => `Warning: ${formatFault(warning)}\n`);
  const showEdit = () => context.stderr.write([...lines, ...warnings].map((line) => `${line}\n`).join(""));
  if (flags.writeOnly) {
    showEdit();
    if (!flags.dryRun) await workspace.save();
    if (flags.dryRun) endDryRun(`${typed} --write-only`, context);
    else context.stderr.write(`Now: talosmith deploy ${name}\n`);
    return;
  }
  refuseUnfinishedMigration(workspace.root);
  await mendState(before);
  const manager = await openExistingManager(before, context);
  if (manager.isNew) throw notDeployed(name, "there is nothing to change");
  showEdit();
  if (!flags.dryRun) {
    await deployThrough({ workspace, manager, flags, context, started });
    return;
  }
  await showPlan(workspace, manager, { raw: false, json: flags.json }, context);
  endDryRun(typed, context);
  context.exit(0);
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
