// SPDX-License-Identifier: Apache-2.0
import { newDefaults } from "../../talos/config/migrate/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { Contract } from "../../talos/version/index.ts";
import { counted } from "../../workspace/amounts.ts";
import { firstReads, forgetPreviousContract, refuseEditedSince } from "../../workspace/environment-file.ts";
import {
  type MigrationPlan,
  type PlannedDefault,
  planMigration,
  throwawaySecrets,
} from "../../workspace/migrate-contract.ts";
import { fileDiffs } from "../../workspace/migrate-diff.ts";
import { finishMigration, holdingMigrations, saveMigration } from "../../workspace/migration-journal.ts";
import { openEnvironment, projectRoot } from "../../workspace/project.ts";
import { type Rehearsal, rehearseMigration } from "../../workspace/rehearse-migration.ts";
import { type ApprovalFlags, approved, question, requireAnswer } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";
import { jsonText } from "../output/table.ts";

interface MigrateFlags extends ApprovalFlags {
  readonly to: string;
  readonly enable: readonly string[];
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** Moves an environment's patches to the form of a newer contract, and the contract with them. */
export async function configMigrate(name: string, flags: MigrateFlags, context: CommandContext): Promise<void> {
  const to = Contract.parse(flags.to);
  refuseUnknown(flags.enable);
  const root = projectRoot(context.cwd, context.env);
  if (flags.dryRun) return migrate(name, to, flags, context);
  await holdingMigrations(root, async () => {
    const finished = await finishMigration(root);
    if (finished !== undefined)
      context.stderr.write(
        `Finished the interrupted migration of ${finished.environment} to ${finished.to}: ${finished.files.join(", ")}.\n`,
      );
    await migrate(name, to, flags, context);
  });
}

async function migrate(name: string, to: Contract, flags: MigrateFlags, context: CommandContext): Promise<void> {
  const place = openEnvironment(name, context);
  const { root, environment } = place;
  const tell = (line: string) => context.stderr.write(`${line}\n`);
  const secrets = throwawaySecrets(place);
  const first = await planMigration(place, to, flags.enable, secrets);
  const chosen = first.obstacles.length > 0 ? [] : await askDefaults(first, flags, context);
  const plan = chosen.length === 0 ? first : await planMigration(place, to, [...flags.enable, ...chosen], secrets);
  const before = firstReads(root);
  // Not all of them are read to be shown.
  for (const file of plan.texts.keys()) before(file);
  const diffs = fileDiffs(before, environment, plan.texts);
  const report = (outcome: Outcome) => {
    if (flags.json) context.stdout.write(jsonText(asJson(name, plan, diffs, outcome)));
  };
  if (plan.from.equals(plan.to)) {
    const cleared = flags.dryRun ? [] : await forgetPreviousContract(root, environment);
    report({ changed: cleared.length > 0 });
    const did = cleared.map((file) => `Removed previousContract from ${file}: the migration is deployed.`).join(" ");
    tell(`${name} has the config contract ${plan.to} already. ${did || "Nothing was changed."}`);
    return;
  }
  if (!flags.json) for (const { diff } of diffs) context.stdout.write(diff);
  for (const line of inWords(plan)) tell(line);
  if (plan.obstacles.length > 0) {
    report({ changed: false });
    throw refused(name, plan);
  }
  if (flags.dryRun) {
    report({ changed: false });
    tell("Nothing was changed.");
    return;
  }
  requireAnswer(flags, context);
  const rehearsal = await withProgress(context, flags, async (events) =>
    rehearseMigration(place, plan.after, plan.texts, await secrets(), events),
  );
  tell(verdict(plan, rehearsal));
  const files = counted(diffs.length, "file");
  // The files are a person's, whatever the machines are.
  if (!(await approved(`Change ${files}, and move ${name} to contract ${plan.to}?`, name, flags, context))) return;
  refuseEditedSince(root, plan.texts.keys(), before);
  await saveMigration(root, { environment: name, to: plan.to.toString(), texts: plan.texts });
  report({ changed: true, rehearsal });
  tell(`Changed ${diffs.map(({ file }) => file).join(", ")}. The machines get it with the next deploy:`);
  tell(`  talosmith plan ${name}`);
  tell(`cluster.previousContract: ${plan.from} lets the running cluster move on. It is not needed after that deploy.`);
  tell(`\`up\` removes it; after a deploy through Terraform, run this command once more to remove it.`);
}

interface Outcome {
  readonly changed: boolean;
  readonly rehearsal?: Rehearsal;
}

function refuseUnknown(ids: readonly string[]): void {
  const known = newDefaults.map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return;
  throw new TalosError("invalid-input", `--enable: there is no new default ${unknown}`, {
    hint: `Name one of: ${known.join(", ")}.`,
  });
}

/** Those that a person at a terminal wants on. */
async function askDefaults(
  { defaults }: MigrationPlan,
  { yes, dryRun, json }: MigrateFlags,
  context: CommandContext,
): Promise<readonly string[]> {
  if (yes || dryRun || json || !context.stderr.isTerminal || !process.stdin.isTTY) return [];
  const chosen: string[] = [];
  for (const { id, effect, risk, state } of defaults) {
    if (state !== "off") continue;
    const answer = await question(`\n${id}: ${effect} ${risk}\n  Switch it on? (y/N): `, context.signal);
    if (/^y(es)?$/i.test(answer?.trim() ?? "")) chosen.push(id);
  }
  return chosen;
}

function inWords(plan: MigrationPlan): readonly string[] {
  const { moved, left, defaults, notes } = plan;
  const lines: string[] = [];
  const section = (title: string, items: readonly string[]) => {
    if (items.length > 0) lines.push("", title, ...items.map((item) => `  ${item}`));
  };
  section(
    `Moved, ${counted(moved.length, "setting")}:`,
    moved.map(({ file, line, path, to }) => `${file}:${line} ${path} → ${to.join(", ") || "implied by the contract"}`),
  );
  section(
    "Not moved:",
    left.map(({ file, line, path, reason }) => `${file}:${line} ${path}: ${reason}`),
  );
  section(`New defaults of ${plan.to}:`, defaults.map(defaultInWords));
  section("Note:", notes);
  return lines;
}

function defaultInWords({ id, effect, risk, state }: PlannedDefault): string {
  const words = { off: `kept off; on with --enable ${id}`, on: "on", always: "on, cannot be kept off" }[state];
  return `${id} (${words}): ${effect} ${risk}`;
}

function refused(name: string, { from, to, obstacles, left }: MigrationPlan): TalosError {
  const list = obstacles.map((obstacle) => `\n  ${obstacle}`).join("");
  const hint =
    left.length === 0
      ? "Change the patches that these are about by hand, then run this again."
      : "Follow the advice under Not moved, then run this again.";
  return new TalosError(
    "failed-precondition",
    `${name} stays at contract ${from}, and nothing was changed. With ${to}:${list}`,
    { hint },
  );
}

function verdict({ machines }: MigrationPlan, { machines: rehearsed, rebooted }: Rehearsal): string {
  const reboots = rebooted.length === 0 ? "none reboots" : `a deploy reboots ${rebooted.join(", ")}`;
  return `\nCompared ${counted(machines, "config")}: they mean the same. Rehearsed with ${counted(rehearsed.length, "simulated machine")}: all accept their config, ${reboots}.`;
}

function asJson(name: string, plan: MigrationPlan, diffs: readonly { file: string; diff: string }[], outcome: Outcome) {
  const { from, to, moved, left, defaults, notes, machines, obstacles } = plan;
  return {
    v: 1,
    type: "migration",
    environment: name,
    from: from.toString(),
    to: to.toString(),
    moved,
    left,
    defaults,
    notes,
    machines,
    obstacles,
    files: diffs,
    ...outcome,
  };
}
