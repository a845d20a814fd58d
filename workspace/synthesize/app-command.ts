// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";

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
