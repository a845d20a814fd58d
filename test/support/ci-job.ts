// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a CI job as its runner would, with what the documents use of the two formats.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { PageShell, Typed } from "./page-shell.ts";

export interface JobResult {
  readonly ran: readonly Typed[];
  /** Steps that are somebody else's: checkout, and the installing of programs. */
  readonly used: readonly string[];
  readonly failed: boolean;
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly "working-directory"?: string;
}

/** A job of a GitHub workflow. `values` has what stands between `${{` and `}}`. */
export async function runGithubJob(
  text: string,
  name: string,
  shell: PageShell,
  values: Readonly<Record<string, string>>,
): Promise<JobResult> {
  const { jobs } = parse(text) as { jobs: Record<string, { env?: Record<string, string>; steps: readonly Step[] }> };
  const job = jobs[name];
  if (job === undefined) throw new Error(`no job ${name}`);
  const fill = (words: string) =>
    words.replaceAll(/\$\{\{ *(.+?) *\}\}/g, (_, key: string) => {
      const value = values[key];
      if (value === undefined) throw new Error(`nobody says what ${key} is`);
      return value;
    });
  for (const [key, value] of Object.entries(job.env ?? {})) await shell.ok(`export ${key}='${fill(value)}'`);
  const ran: Typed[] = [];
  const used: string[] = [];
  let failed = false;
  for (const step of job.steps) {
    if (step.uses !== undefined) used.push(step.uses);
    if (step.run === undefined || !isDue(step.if, failed, shell.root)) continue;
    const where = join(shell.root, step["working-directory"] ?? "");
    // As the runner does it: a shell of its own per step, which ends at the first line that fails.
    const typed = await shell.type(`cd '${where}' && bash -e <<'STEP'\n${fill(step.run)}\nSTEP`);
    failed ||= typed.code !== 0;
    ran.push(typed);
  }
  return { ran, used, failed };
}

/** `always()` and `hashFiles` are all that the documents use; without a condition a step follows success alone. */
function isDue(condition: string | undefined, failed: boolean, root: string): boolean {
  if (condition === undefined) return !failed;
  const [, file] = /^always\(\) && hashFiles\('([^']+)'\) != ''$/.exec(condition) ?? [];
  if (file === undefined) throw new Error(`a condition that this runner does not know: ${condition}`);
  return existsSync(join(root, file));
}

/** A job of GitLab's: one shell for all lines of its script, which ends at the first that fails. */
export async function runGitlabJob(
  text: string,
  name: string,
  shell: PageShell,
): Promise<JobResult & { readonly artifacts: readonly string[] }> {
  const jobs = parse(text) as Record<
    string,
    { script: readonly string[]; artifacts?: { when: string; paths: readonly string[] } }
  >;
  const job = jobs[name];
  if (job === undefined) throw new Error(`no job ${name}`);
  const typed = await shell.type(`cd '${shell.root}' && bash -e <<'SCRIPT'\n${job.script.join("\n")}\nSCRIPT`);
  const failed = typed.code !== 0;
  const kept = job.artifacts !== undefined && (!failed || job.artifacts.when === "always") ? job.artifacts.paths : [];
  return { ran: [typed], used: [], failed, artifacts: kept.filter((path) => existsSync(join(shell.root, path))) };
}
