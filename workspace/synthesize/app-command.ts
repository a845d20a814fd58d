// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";

/** The text of a main.ts to which nobody has added anything. */
export function plainMain(talosmith: string): string {
  return `// SPDX-License-Identifier: Apache-2.0
// What \`cdktf deploy\`, \`cdktn synth\` and their like run: one stack per file in environments/.
import { synthesizeProject } from "${talosmith}";

await synthesizeProject(import.meta.dirname);
`;
}

/**
 * The command of cdktf.json that makes the stacks, or undefined where it does no more than we do in this process, which
 * is quicker. What a changed main.ts adds to a stack must be there through every door, or the next deploy destroys it.
 */
export function ownApp(root: string): string | undefined {
  const app = appOf(root);
  if (app === undefined || /\btalosmith(\.js)? synth$/.test(app)) return undefined;
  const main = join(root, "main.ts");
  if (!app.endsWith(" main.ts") || !existsSync(main)) return app;
  const plain = [plainMain("talosmith"), plainMain("./workspace/synthesize/index.ts")];
  return plain.includes(readFileSync(main, "utf8")) ? undefined : app;
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
