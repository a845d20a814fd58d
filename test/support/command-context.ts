// SPDX-License-Identifier: Apache-2.0
import type { CommandContext, ExitCode } from "../../cli/context.ts";
import { systemEntropy } from "../../talos/clock.ts";

export interface TestContext extends CommandContext {
  readonly written: { stdout: string; stderr: string; exitCode: ExitCode };
}

/** A command's world in memory. */
export function testContext(
  options: Partial<Pick<CommandContext, "cwd" | "env" | "signal" | "clock">> = {},
): TestContext {
  const written = { stdout: "", stderr: "", exitCode: 0 as ExitCode };
  const output = (name: "stdout" | "stderr") => ({
    isTerminal: false,
    write: (text: string) => {
      written[name] += text;
    },
  });
  return {
    written,
    stdout: output("stdout"),
    stderr: output("stderr"),
    clock: options.clock ?? { now: () => new Date("2026-11-16T12:00:00Z") },
    entropy: systemEntropy,
    name: "talosmith",
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
    exit: (code) => {
      written.exitCode = code;
    },
  };
}
