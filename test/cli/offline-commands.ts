// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { registerConfig } from "../../cli/commands/config.ts";
import { registerGen } from "../../cli/commands/gen.ts";
import { registerImage } from "../../cli/commands/image.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

export const golden = fileURLToPath(new URL("../golden/", import.meta.url));
export const goldenText = (path: string): string => readFileSync(join(golden, path), "utf8");

/** The commands that need no cluster, run in a folder that is new for each test of a file. */
export function offlineCommands() {
  let root: string;
  const folder = { path: "" };
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "talosmith-cli-"));
  });
  afterAll(() => rmSync(root, { recursive: true }));
  beforeEach(() => {
    folder.path = mkdtempSync(join(root, "cwd-"));
  });
  return {
    folder,
    here: (path: string): string => readFileSync(join(folder.path, path), "utf8"),
    async talosmith(args: readonly string[], env: Record<string, string> = {}) {
      const context = testContext({ cwd: folder.path, env });
      await runProgram(createProgram(context, [registerGen, registerConfig, registerImage]), args, context);
      return context.written;
    },
  };
}
