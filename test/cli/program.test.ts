// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { createProgram, type Registration, runProgram } from "../../cli/program.ts";
import { TalosError } from "../../talos/errors.ts";
import { testContext } from "../support/command-context.ts";

async function run(args: readonly string[], action: () => void, signal = new AbortController().signal) {
  const context = testContext({ signal });
  const register: Registration = (program) => program.command("work").action(action);
  await runProgram(createProgram(context, [register]), args, context);
  return context.written;
}

test("help goes to stdout and is no failure", async () => {
  const { stdout, exitCode } = await run(["--help"], () => {});
  expect(stdout).toContain("Usage: talosmith");
  expect(exitCode).toBe(0);
});

test("wrong usage is told on stderr with exit code 64", async () => {
  const { stderr, exitCode } = await run(["wrok"], () => {});
  expect(stderr).toContain("unknown command 'wrok'");
  expect(exitCode).toBe(64);
});

test("a known error is a sentence and a hint, without a stack", async () => {
  const { stderr, exitCode } = await run(["work"], () => {
    throw new TalosError("not-found", "no such disk", { node: "cp-1", hint: "Look again." });
  });
  expect(stderr).toBe("Error: cp-1: no such disk\n  Look again.\n");
  expect(exitCode).toBe(1);
});

test("an error of ours asks for a report and shows where it was", async () => {
  const { stderr, exitCode } = await run(["work"], () => {
    throw new RangeError("oops");
  });
  expect(stderr).toContain("fault of talosmith");
  expect(stderr).toContain("program.test.ts");
  expect(exitCode).toBe(1);
});

test("a machine's own internal error is told as a sentence, not as a fault of ours", async () => {
  const { stderr, exitCode } = await run(["work"], () => {
    const cause = new Error("13 INTERNAL: no space left on device");
    throw new TalosError("internal", "cp-1: no space left on device", { node: "cp-1", cause });
  });
  expect(stderr).toBe("Error: cp-1: no space left on device\n");
  expect(exitCode).toBe(1);
});

test("Ctrl-C ends with 130 and says how to go on", async () => {
  const { stderr, exitCode } = await run(
    ["work"],
    () => {
      throw new TalosError("canceled", "stopped");
    },
    AbortSignal.abort(),
  );
  expect(stderr).toContain("Stopped. To go on from here: talosmith work");
  expect(exitCode).toBe(130);
});
