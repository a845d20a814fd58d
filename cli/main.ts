// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { withAbsoluteRoot } from "../model/project-root.ts";
import { systemClock, systemEntropy } from "../talos/clock.ts";
import type { CommandContext, Output } from "./context.ts";
import { stopCode } from "./output/report-error.ts";
import { stoppedText } from "./output/stopped.ts";
import { wrapped } from "./output/wrap.ts";
import { createProgram, runProgram } from "./program.ts";
import { registrations } from "./registrations.ts";
import { asTyped, typedName } from "./typed-name.ts";

function output(stream: NodeJS.WriteStream, shape = (text: string) => text): Output {
  let onlyTells = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // Nobody hears us any more, as when a terminal is closed: the work is still to be done, or to be stopped safely.
    if (stream === process.stderr) return;
    // Who reads our output has seen enough, as `head` does: that is no error, but earlier ones stay.
    if (error.code === "EPIPE" && onlyTells) return;
    if (error.code === "EPIPE") process.exit();
    process.stderr.write(`Error: the output could not be written: ${error.message}\n`);
    process.exit(1);
  });
  return {
    write: (text) => void stream.write(shape(text)),
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    onlyTells: () => {
      onlyTells = true;
    },
  };
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write(
      "Error: the working directory is not there any more\n  Change into a folder that exists and try again.\n",
    );
    process.exit(1);
  }
}

const cwd = workingDirectory();
const name = typedName({ env: process.env, cwd, script: process.argv[1] });
const args = process.argv.slice(2);

const stop = new AbortController();
// Every machine that is waited for listens to it: many listeners are no leak here.
setMaxListeners(0, stop.signal);
// SIGHUP comes when a terminal or the line to it is closed.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    if (stop.signal.aborted) {
      process.stderr.write(`${asTyped(stoppedText(args, { atOnce: true }), name)}\n`);
      process.exit(stopCode(stop.signal));
    }
    stop.abort(new DOMException(signal, "AbortError"));
  });

const context: CommandContext = {
  stdout: output(process.stdout),
  stderr: output(process.stderr, (text) => wrapped(asTyped(text, name), process.stderr.columns)),
  name,
  clock: systemClock,
  entropy: systemEntropy,
  cwd,
  env: withAbsoluteRoot(process.env, cwd),
  signal: stop.signal,
  exit: (code) => {
    process.exitCode = code;
  },
};

const program = createProgram(context, registrations);
// No await: the executable's files are CommonJS.
void runProgram(program, args, context).then(() => {
  // At once: when Node comes to its end by itself, it lets go of our handlers first, and a second Ctrl-C then would end it
  // by the signal, not by its exit code.
  if (stop.signal.aborted) process.exit();
  // An attempt to connect to a machine that swallows packets cannot be taken back and would last for minutes. The timer
  // itself does not keep the process alive.
  setTimeout(() => process.exit(), 1000).unref();
});
