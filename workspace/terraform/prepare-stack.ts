// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import type { WorkspaceContext } from "../context.ts";
import { appFailure, synthesizeEnvironments } from "../synthesize/index.ts";
import { runProgram } from "./run-program.ts";

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
  const directory = stackDirectory(root, environment);
  const app = appCommand(root);
  if (app !== undefined) {
    await runApp(app, root, environment, context);
    if (!existsSync(join(directory, "cdk.tf.json")))
      throw new TalosError("failed-precondition", `\`${app}\` of cdktf.json wrote no stack "${environment}"`, {
        hint: "Call synthesizeProject in it, or use the CDK's own commands for stacks without an environment file.",
      });
    return directory;
  }
  const { failures } = await synthesizeEnvironments({ root, environments: [environment] });
  for (const { error } of failures) throw error;
  return directory;
}

async function runApp(
  app: string,
  root: string,
  environment: string,
  { env, signal }: Pick<WorkspaceContext, "env" | "signal">,
): Promise<void> {
  const settings = { CDKTF_OUTDIR: join(root, "cdktf.out"), TALOSMITH_ENVIRONMENT: environment };
  const options = { cwd: root, env: { ...env, ...settings }, signal };
  const { code, stdout, stderr } = await runProgram("sh", ["-c", app], options);
  if (code === 0) return;
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

/** Takes a stack's synthesized files away; with the last stack, the whole output folder. */
export async function removeStack(root: string, environment: string): Promise<void> {
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
