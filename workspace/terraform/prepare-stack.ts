// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as z from "zod";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { processFolder, removeAbandoned } from "../../talos/process-folder.ts";
import type { EnvironmentOnDisk, WorkspaceContext } from "../context.ts";
import { appFailure, readMark, synthesizeEnvironments, unsavedFilesVariable } from "../synthesize/index.ts";
import { runProgram } from "./run-program.ts";

/** Where terraform keeps the local states of workspaces, in a stack's folder. */
const workspaceStates = "terraform.tfstate.d";

/** Where the CDK's own commands put a stack, too: one directory and one state for all of them. */
export function stackDirectory(root: string, environment: string): string {
  return join(root, "cdktf.out", "stacks", environment);
}

/**
 * The stack of a cluster that exists, to read its state or destroy it: that needs the state more than the file, so the
 * stack that was generated last will do where the file has errors now.
 */
export async function prepareExistingStack(...args: Parameters<typeof prepareStack>): Promise<string> {
  const [root, environment, { signal }] = args;
  try {
    return await prepareStack(...args);
  } catch (error) {
    const last = stackDirectory(root, environment);
    if (signal.aborted || !existsSync(join(last, "cdk.tf.json"))) throw error;
    return last;
  }
}

/** Synthesizes one environment as the project's app does, with our provider beside it, ready for `init`. */
export async function prepareStack(
  root: string,
  environment: string,
  context: Pick<WorkspaceContext, "env" | "signal">,
): Promise<string> {
  await writeStack({ root, environment, context, outdir: join(root, "cdktf.out") });
  return stackDirectory(root, environment);
}

/**
 * The stack of a cluster that exists, to read its state: the one that is there, unless it is of other files. While a plan
 * waits for its apply in it, its lock has to stay as `init` left it.
 */
export async function stackOfState(...args: Parameters<typeof prepareStack>): Promise<string> {
  const [root, environment] = args;
  const last = stackDirectory(root, environment);
  return (await isNewest(root, last)) ? last : prepareExistingStack(...args);
}

const made = /^(\.|node_modules$|cdktf\.out$|generated$|state$)/;

/** Whether nothing that an app is made of has changed since a stack was written: running it takes a second. */
export async function isNewest(root: string, directory: string): Promise<boolean> {
  const written = await stat(join(directory, "cdk.tf.json")).catch(() => undefined);
  if (written === undefined) return false;
  const isOlder = async (folder: string): Promise<boolean> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !made.test(entry.name) && !(await isOlder(path))) return false;
      if (!entry.isFile() || !/\.([cm]?[jt]s|ya?ml|json|hbs)$/.test(entry.name)) continue;
      if ((await stat(path)).mtimeMs >= written.mtimeMs) return false;
    }
    return true;
  };
  return isOlder(root);
}

/** Where Terraform works on an environment, and the variables that it needs there. */
export interface Stack {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The environment's stack. With unsaved texts one that is the work's alone: what others read of the project is as before. */
export async function withStack<T>(place: EnvironmentOnDisk, work: (stack: Stack) => Promise<T>): Promise<T> {
  const { root, environment, context, unsaved } = place;
  if (unsaved === undefined || unsaved.size === 0)
    return work({ directory: await prepareStack(root, environment.name, context), env: {} });
  await mkdir(join(root, "cdktf.out"), { recursive: true });
  const outdir = processFolder(join(root, "cdktf.out"), unsavedPrefix(environment.name));
  try {
    await writeStack({ root, environment: environment.name, context, outdir, unsaved });
    // As deep in the project as the stack that it stands for, because stacks have relative paths.
    const directory = join(outdir, environment.name);
    await rename(join(outdir, "stacks", environment.name), directory);
    return await work({ directory, env: await shareTerraformData(place, directory) });
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

/** One environment's own: in that of another, the terraform of a killed run may still be at work. No name has a dot. */
const unsavedPrefix = (environment: string) => `.unsaved-${environment}.`;

/** Removes the stacks of edits that killed runs have left, with their plans. Only when no terraform of theirs is at work. */
export function removeUnsavedStacks(root: string, environment: string): void {
  removeAbandoned(join(root, "cdktf.out"), unsavedPrefix(environment));
}

/** Providers, the backend and the states of workspaces are those of the environment's own stack. */
async function shareTerraformData(
  { root, environment: { name }, context }: EnvironmentOnDisk,
  directory: string,
): Promise<Stack["env"]> {
  const own = stackDirectory(root, name);
  const states = join(own, workspaceStates);
  if (existsSync(states)) await symlink(states, join(directory, workspaceStates), "junction");
  const data = resolve(own, context.env.TF_DATA_DIR ?? ".terraform");
  return existsSync(data) ? { TF_DATA_DIR: data } : {};
}

interface StackRequest {
  readonly root: string;
  readonly environment: string;
  readonly context: Pick<WorkspaceContext, "env" | "signal">;
  readonly outdir: string;
  readonly unsaved?: ReadonlyMap<string, string>;
}

async function writeStack(request: StackRequest): Promise<void> {
  const { root, environment, outdir, unsaved = new Map() } = request;
  const app = appCommand(root);
  if (app === undefined) {
    const { failures } = await synthesizeEnvironments({ root, environments: [environment], outdir, unsaved });
    for (const { error } of failures) throw error;
    return;
  }
  await runApp(app, request);
  if (!existsSync(join(outdir, "stacks", environment, "cdk.tf.json")))
    throw new TalosError("failed-precondition", `\`${app}\` of cdktf.json wrote no stack "${environment}"`, {
      hint: "Call synthesizeProject in it, or use the CDK's own commands for stacks without an environment file.",
    });
}

/** Names the project whose app is running, for a talosmith that it starts. */
const runningApp = "TALOSMITH_RUNNING_APP";

async function runApp(
  app: string,
  { root, environment, outdir, unsaved, context: { env, signal } }: StackRequest,
): Promise<void> {
  const project = realpathSync(root);
  if (env[runningApp] === project)
    throw new TalosError("failed-precondition", `\`${app}\` of cdktf.json starts talosmith, which would run it again`, {
      hint: 'Call synthesizeProject in it, or set "app" to "npx talosmith synth" for the built-in app.',
    });
  const settings: Record<string, string> = {
    CDKTF_OUTDIR: outdir,
    TALOSMITH_ENVIRONMENT: environment,
    [runningApp]: project,
  };
  if (unsaved !== undefined) {
    settings[unsavedFilesVariable] = join(outdir, "unsaved.json");
    await writeFileAtomically(settings[unsavedFilesVariable], JSON.stringify(Object.fromEntries(unsaved)));
  }
  const options = { cwd: root, env: { ...env, ...settings }, signal };
  const { code, stdout, stderr } = await runProgram("sh", ["-c", app], options);
  if (code === 0) return refuseUnread(app, settings[unsavedFilesVariable]);
  const message = `\`${app}\` of cdktf.json failed\n\n${appFailure(`${stdout}${stderr}`, root)}\n`;
  const without = "Without main.ts the built-in app makes the stacks.";
  // Of a package, not of a file of the project.
  const isMissing = /Cannot find package/.test(stderr);
  const hint =
    code === 127
      ? `A project with a main.ts needs Node.js 20.19 or later on the PATH, and its packages installed. ${without}`
      : `Run npm install in the project: a package that main.ts needs is not there. ${without}`;
  throw new TalosError("failed-precondition", message, code === 127 || isMissing ? { hint } : {});
}

/** A plan of the files as they were would be shown as that of the edit. */
function refuseUnread(app: string, unsaved: string | undefined): void {
  if (unsaved === undefined || existsSync(readMark(unsaved))) return;
  throw new TalosError("failed-precondition", `\`${app}\` of cdktf.json reads the environment files by itself`, {
    hint: "Call synthesizeProject in it. Without that, write the change with --write-only first, then deploy.",
  });
}

/**
 * Takes a stack's synthesized files away; with the last stack, the whole output folder. A stack in which terraform keeps the
 * states of other workspaces stays.
 */
export async function removeStack(root: string, environment: string): Promise<void> {
  if (existsSync(join(stackDirectory(root, environment), workspaceStates))) return;
  await rm(stackDirectory(root, environment), { recursive: true, force: true });
  const stacks = join(root, "cdktf.out", "stacks");
  if (existsSync(stacks) && (await readdir(stacks)).length === 0)
    await rm(join(root, "cdktf.out"), { recursive: true, force: true });
}

/**
 * The command of cdktf.json that makes the stacks: what main.ts adds to a stack must be there for every command, or the
 * next deploy destroys it. Undefined where the built-in app does, because the project has no main.ts.
 */
export function appCommand(root: string): string | undefined {
  const app = appOf(root);
  if (app === undefined || /\btalosmith(\.js)? synth$/.test(app)) return undefined;
  return app.endsWith(" main.ts") && !existsSync(join(root, "main.ts")) ? undefined : app;
}

/** A project whose root is given by TALOSMITH_ROOT may do without a cdktf.json. */
function appOf(root: string): string | undefined {
  const file = join(root, "cdktf.json");
  if (!existsSync(file)) return undefined;
  try {
    return z.object({ app: z.string().optional() }).parse(JSON.parse(readFileSync(file, "utf8"))).app;
  } catch (cause) {
    throw new TalosError("invalid-input", `${file} is not a CDK project file: expected JSON with "app", a command`, {
      hint: "Correct it; talosmith init in an empty folder shows one.",
      cause,
    });
  }
}
