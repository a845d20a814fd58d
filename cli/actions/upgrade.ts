// SPDX-License-Identifier: Apache-2.0
import {
  changeVersion,
  EnvironmentError,
  fileReader,
  formatFault,
  listEnvironments,
  loadEnvironment,
  type VersionChange,
  type VersionField,
} from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { planWithoutTerraform } from "../../workspace/deploy.ts";
import { saveTexts } from "../../workspace/environment-file.ts";
import { notDeployed, projectRoot } from "../../workspace/project.ts";
import { windowNotice } from "../../workspace/rollout.ts";
import { ownedByTerraform } from "../../workspace/terraform/state-file.ts";
import { Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { deployAlone } from "./deploy.ts";

export interface UpgradeFlags extends ApprovalFlags {
  readonly to: string;
  readonly dryRun: boolean;
  readonly writeOnly: boolean;
  readonly json: boolean;
}

/**
 * The file first, then the machines: were it the other way round, the next deploy would take the file's older version
 * for a wish. A run that was killed is taken up by the same command.
 */
export async function upgradeTo(
  field: VersionField,
  name: string,
  flags: UpgradeFlags,
  context: CommandContext,
): Promise<void> {
  const started = performance.now();
  const root = projectRoot(context.cwd, context.env);
  const change = changeVersion(name, field, flags.to, fileReader(root));
  const { after, file } = change;
  const tell = (line: string) => context.stderr.write(`${line}\n`);
  for (const line of consequences(root, field, change)) tell(line);
  for (const warning of after.warnings) tell(`Warning: ${formatFault(warning)}\n`);
  const terraform = await ownedByTerraform({ root, environment: after });
  if (flags.writeOnly || (terraform && flags.dryRun)) {
    if (!flags.dryRun) await saveTexts(root, change.texts);
    tell(flags.dryRun ? "Nothing was changed." : `Now: talosmith deploy ${name}`);
    if (flags.dryRun && terraform)
      tell(
        `${name} belongs to Terraform, which knows the steps: run this with --write-only, then talosmith plan ${name} shows them.`,
      );
    return;
  }
  if (terraform) {
    throw new TalosError("failed-precondition", `${name} belongs to Terraform, and nothing was changed`, {
      hint: `Add --write-only to change ${file}; then talosmith plan ${name} shows the steps, and talosmith deploy ${name} takes them.`,
    });
  }
  // The file on the disk, which the project's app reads, still has the older version.
  const workspace = new Workspace({ root, environment: after, context }).with(after);
  const { missing, steps, notes } = await planWithoutTerraform(workspace);
  if (missing.length > 0) throw notDeployed(name, `no machine ${missing.join(", ")}`);
  const lines = steps.map(({ sentence }) => `- ${sentence}\n`).join("");
  if (flags.dryRun) context.stdout.write(lines || "Nothing to change.\n");
  else if (!flags.json) context.stderr.write(lines);
  for (const note of notes) tell(note);
  const notice = windowNotice(after, steps, context.clock.now());
  if (notice !== undefined) tell(notice);
  if (flags.dryRun) return;
  const question = `Take ${steps.length === 1 ? "this step" : `these ${steps.length} steps`} in ${name}?`;
  if (steps.length > 0 && !(await approvedFor(after, question, flags, context))) return;
  await saveTexts(root, change.texts);
  await deployAlone(workspace.written(after), flags, started, context);
}

/** What changes in the files, and what follows from it that was not asked for. */
function consequences(root: string, field: VersionField, change: VersionChange): string[] {
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
