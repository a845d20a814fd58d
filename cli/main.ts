// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { systemClock, systemEntropy } from "../talos/clock.ts";
import type { CommandContext, Output } from "./context.ts";
import { createProgram, runProgram } from "./program.ts";
import { registrations } from "./registrations.ts";
import { asTyped, typedName } from "./typed-name.ts";

function output(stream: NodeJS.WriteStream, shape = (text: string) => text): Output {
  return { write: (text) => void stream.write(shape(text)), isTerminal: stream.isTTY === true };
}

const stop = new AbortController();
// Every machine that is waited for listens to it: many listeners are no leak here.
setMaxListeners(0, stop.signal);
process.on("SIGINT", () => {
  if (stop.signal.aborted) process.exit(130);
  stop.abort();
});
process.on("SIGTERM", () => stop.abort());

const name = typedName({ env: process.env, cwd: process.cwd(), script: process.argv[1] });
const context: CommandContext = {
  stdout: output(process.stdout),
  stderr: output(process.stderr, (text) => asTyped(text, name)),
  name,
  clock: systemClock,
  entropy: systemEntropy,
  cwd: process.cwd(),
  env: process.env,
  signal: stop.signal,
  exit: (code) => {
    process.exitCode = code;
  },
};

const program = createProgram(context, registrations);
await runProgram(program, process.argv.slice(2), context);
// An attempt to connect to a machine that swallows packets cannot be taken back and would keep us for minutes. The
// timer itself keeps nobody.
setTimeout(() => process.exit(), 1000).unref();
