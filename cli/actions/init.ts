// SPDX-License-Identifier: Apache-2.0
import { join, relative } from "node:path";
import {
  type FirstEnvironment,
  formatFault,
  type Kind,
  kindNames,
  questionsOf,
  wrongAnswer,
} from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import { refuseExisting, writeFirstEnvironment } from "../../workspace/environment-file.ts";
import { projectRoot } from "../../workspace/project.ts";
import { question } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { packageFile, writeProject } from "./init-project.ts";

interface InitOptions {
  /** Print what was written for programs. @default false */
  readonly json?: boolean;
  readonly kind?: string;
  /** Exact, or `1.13` or `latest`; the exact version is written. */
  readonly talosVersion?: string;
  readonly kubernetesVersion?: string;
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

/**
 * Gives the answer to a question, or undefined when nobody can be asked. Whoever can ask does so again while `check`
 * has something against the answer.
 */
export type Ask = (question: string, usual: string | undefined, check: Check) => Promise<string | undefined>;

/** What is wrong with an answer, in words; undefined when nothing is. */
type Check = (answer: string | undefined) => string | undefined;

/** Writes environments/<name>.yaml from flags and, with a terminal, from answers. Never replaces a file. */
export async function init(name: string, options: InitOptions, context: CommandContext): Promise<void> {
  refuseExisting(findRoot(context), name);
  const interactive = context.stderr.isTerminal && process.stdin.isTTY === true;
  const ask: Ask = (text, usual, check) =>
    interactive
      ? askUntilRight(
          () => question(`${text}${usual ? ` [${usual}]` : ""}: `, context.signal),
          (answer) => check(answer || usual),
          (problem) => context.stderr.write(`  ${problem}\n`),
        ).then((answer) => answer || usual)
      : Promise.resolve(usual);
  await writeEnvironment(name, await answersFrom(options, ask), options, context);
}

/** Asks until the answer is right, and says each time why not. Who ends the input has not answered. */
export async function askUntilRight(
  ask: () => Promise<string | undefined>,
  check: (answer: string) => string | undefined,
  tell: (problem: string) => void,
): Promise<string> {
  for (;;) {
    const answer = (await ask())?.trim();
    if (answer === undefined)
      throw new TalosError("failed-precondition", "nothing was written: the questions were not answered", {
        hint: "Answer them, or give the answers as flags: talosmith init --help",
      });
    const problem = check(answer);
    if (problem === undefined) return answer;
    tell(problem);
  }
}

const lists: ReadonlySet<string> = new Set(["adminCidrs", "controlPlaneAddresses", "workerAddresses"]);

/** Flags first, then answers, then what is usual; a missing answer without a usual one is an error that names its flag. */
export async function answersFrom(options: InitOptions, ask: Ask): Promise<FirstEnvironment> {
  const kind = await chooseKind(options.kind, ask);
  // Machines that are there already are given by address, not counted.
  const counted = kind !== "metal";
  let answers: FirstEnvironment = { kind, controlPlanes: counted ? 1 : 0, workers: 0, ...exactVersions(options) };
  const count = async (flag: "controlPlanes" | "workers", question: string, usual: string) => {
    const check: Check = (text = usual) =>
      /^\d{1,4}$/.test(text)
        ? wrongAnswer({ ...answers, [flag]: Number(text) }, flag)
        : `found ${JSON.stringify(text)} for the ${question.toLowerCase()}, expected a number`;
    const text = options[flag] ?? (await ask(question, usual, check)) ?? usual;
    refuse(check(text));
    answers = { ...answers, [flag]: Number(text) };
  };
  if (counted) {
    await count("controlPlanes", "Number of control planes", "1");
    await count("workers", "Number of workers", "2");
  }
  for (const { key, question, usual } of questionsOf[kind]) {
    const nothing = `${question.toLowerCase()}: found nothing`;
    const withAnswer = (text: string): FirstEnvironment => ({
      ...answers,
      [key]: lists.has(key) ? text.split(",").flatMap((item) => item.trim() || []) : text,
    });
    const check: Check = (text) => (text === undefined ? nothing : wrongAnswer(withAnswer(text), key));
    const answer = options[key] ?? (await ask(question, usual, check));
    if (answer === undefined)
      throw new TalosError("invalid-input", nothing, {
        hint: `Add --${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.`,
      });
    refuse(check(answer));
    answers = withAnswer(answer);
  }
  return answers;
}

function exactVersions({ talosVersion, kubernetesVersion }: InitOptions) {
  const talos = talosVersion === undefined ? undefined : TalosVersion.resolve(talosVersion);
  const kubernetes = kubernetesVersion && (talos ?? defaultTalosVersion).resolveKubernetes(kubernetesVersion);
  return given({ talosVersion: talos?.toString(), kubernetesVersion: kubernetes?.toString() });
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new TalosError("invalid-input", problem);
}

async function chooseKind(flag: string | undefined, ask: Ask): Promise<Kind> {
  const known = (answer: string | undefined) => kindNames.find((name) => name === answer);
  const problem = (answer: string | undefined) => `found ${JSON.stringify(answer)}, expected ${kindNames.join(" or ")}`;
  const answer =
    flag ??
    (await ask(`What the machines are: ${kindNames.join(", ")}`, "simulated", (text) =>
      known(text) === undefined ? problem(text) : undefined,
    ));
  const kind = known(answer);
  if (kind !== undefined) return kind;
  throw new TalosError("invalid-input", problem(answer), { hint: "Add --kind with one of these." });
}

async function writeEnvironment(
  name: string,
  answers: FirstEnvironment,
  { json = false }: Pick<InitOptions, "json">,
  context: CommandContext,
): Promise<void> {
  const root = findRoot(context);
  const { file, warnings } = await writeFirstEnvironment(root, name, answers);
  const project = await writeProject(root, context);
  const install = project.includes(packageFile);
  for (const warning of warnings) context.stderr.write(`warning: ${formatFault(warning)}\n`);
  const path = relative(context.cwd, join(root, file));
  if (json) return context.stdout.write(jsonLine({ v: 1, environment: name, file: path, project }));
  context.stdout.write(`${path}\n`);
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
