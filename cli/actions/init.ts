// SPDX-License-Identifier: Apache-2.0
import { join, relative } from "node:path";
import {
  type FirstEnvironment,
  formatFault,
  type Kind,
  kindNames,
  questionsOf,
} from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import { writeFirstEnvironment } from "../helper/environment-file.ts";
import { projectRoot } from "../project-root.ts";
import { question } from "../question.ts";
import { packageFile, writeProject } from "./init-project.ts";

export interface InitOptions {
  readonly kind?: string;
  readonly controlPlanes?: string;
  readonly workers?: string;
  readonly uri?: string;
  readonly cidr?: string;
  readonly vip?: string;
  readonly region?: string;
  readonly adminCidrs?: string;
  readonly zone?: string;
  readonly controlPlaneAddresses?: string;
  readonly workerAddresses?: string;
}

/** Gives the answer to a question, or undefined when nobody can be asked. */
export type Ask = (question: string, usual: string | undefined) => Promise<string | undefined>;

/** Writes environments/<name>.yaml from flags and, with a terminal, from answers. Never replaces a file. */
export async function init(name: string, options: InitOptions, context: CommandContext): Promise<void> {
  const interactive = context.stderr.isTerminal && process.stdin.isTTY === true;
  const ask: Ask = async (text, usual) => {
    if (!interactive) return usual;
    const answer = await question(`${text}${usual ? ` [${usual}]` : ""}: `, context.signal);
    if (answer === undefined)
      throw new TalosError("failed-precondition", "nothing was written: the questions were not answered", {
        hint: "Answer them, or give the answers as flags: talosmith init --help",
      });
    return answer.trim() || usual;
  };
  await writeEnvironment(name, await answersFrom(options, ask), context);
}

const lists: ReadonlySet<string> = new Set(["adminCidrs", "controlPlaneAddresses", "workerAddresses"]);

/** Flags first, then answers, then what is usual; a missing answer without a usual one is an error that names its flag. */
export async function answersFrom(options: InitOptions, ask: Ask): Promise<FirstEnvironment> {
  const kind = await chooseKind(options.kind, ask);
  const count = async (flag: "controlPlanes" | "workers", question: string, usual: string) => {
    const text = options[flag] ?? (await ask(question, usual)) ?? usual;
    if (!/^\d{1,4}$/.test(text))
      throw new TalosError(
        "invalid-input",
        `found ${JSON.stringify(text)} for the ${question.toLowerCase()}, expected a number`,
      );
    return Number(text);
  };
  // Machines that are there already are given by address, not counted.
  const counted = kind !== "metal";
  const controlPlanes = counted ? await count("controlPlanes", "Number of control planes", "1") : 0;
  const workers = counted ? await count("workers", "Number of workers", "2") : 0;
  const given: Record<string, string | readonly string[]> = {};
  for (const { key, question, usual } of questionsOf[kind]) {
    const answer = options[key] ?? (await ask(question, usual));
    if (answer === undefined)
      throw new TalosError("invalid-input", `${question.toLowerCase()}: found nothing`, {
        hint: `Add --${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.`,
      });
    given[key] = lists.has(key) ? answer.split(",").flatMap((item) => item.trim() || []) : answer;
  }
  return { kind, controlPlanes, workers, ...given };
}

async function chooseKind(flag: string | undefined, ask: Ask): Promise<Kind> {
  const answer = flag ?? (await ask(`What the machines are: ${kindNames.join(", ")}`, "simulated"));
  const kind = kindNames.find((known) => known === answer);
  if (kind !== undefined) return kind;
  throw new TalosError("invalid-input", `found ${JSON.stringify(answer)}, expected ${kindNames.join(" or ")}`, {
    hint: "Add --kind with one of these.",
  });
}

async function writeEnvironment(name: string, answers: FirstEnvironment, context: CommandContext): Promise<void> {
  const root = findRoot(context);
  const { file, warnings } = await writeFirstEnvironment(root, name, answers);
  const project = await writeProject(root, context);
  const install = project.includes(packageFile);
  for (const warning of warnings) context.stderr.write(`warning: ${formatFault(warning)}\n`);
  context.stdout.write(`${relative(context.cwd, join(root, file))}\n`);
  if (project.length > 0) context.stderr.write(`Written as well: ${project.join(", ")}.\n`);
  const first = install ? "npm install, then " : "";
  // What npm installs is found by npx.
  const again = install ? "npx talosmith" : context.name;
  context.stderr.write(`Next: ${first}${again} plan ${name}, then ${again} deploy ${name}.\n`);
}

function findRoot(context: CommandContext): string {
  try {
    return projectRoot(context.cwd, context.env);
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return context.cwd;
    throw error;
  }
}
