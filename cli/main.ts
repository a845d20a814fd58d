// SPDX-License-Identifier: Apache-2.0
import { systemClock, systemEntropy } from "../talos/clock.ts";
import { registerDeploy } from "./commands/deploy.ts";
import { registerDestroy } from "./commands/destroy.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerSynth } from "./commands/synth.ts";
import type { CommandContext, Output } from "./context.ts";
import { createProgram, runProgram } from "./program.ts";

function output(stream: NodeJS.WriteStream): Output {
  return { write: (text) => void stream.write(text), isTerminal: stream.isTTY === true };
}

const stop = new AbortController();
process.on("SIGINT", () => {
  if (stop.signal.aborted) process.exit(130);
  stop.abort();
});
process.on("SIGTERM", () => stop.abort());

const context: CommandContext = {
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  clock: systemClock,
  entropy: systemEntropy,
  cwd: process.cwd(),
  env: process.env,
  signal: stop.signal,
  exit: (code) => {
    process.exitCode = code;
  },
};

const program = createProgram(context, [registerDeploy, registerPlan, registerDestroy, registerSynth]);
await runProgram(program, process.argv.slice(2), context);
