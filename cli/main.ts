// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { systemClock, systemEntropy } from "../talos/clock.ts";
import { registerAddon } from "./commands/addon.ts";
import { registerBackup } from "./commands/backup.ts";
import { registerClientFiles } from "./commands/client-files.ts";
import { registerConfig } from "./commands/config.ts";
import { registerDeploy } from "./commands/deploy.ts";
import { registerDestroy } from "./commands/destroy.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerGen } from "./commands/gen.ts";
import { registerHealth } from "./commands/health.ts";
import { registerImage } from "./commands/image.ts";
import { registerInit } from "./commands/init.ts";
import { registerMachine } from "./commands/machine.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerProvider } from "./commands/provider.ts";
import { registerRestore } from "./commands/restore.ts";
import { registerReview } from "./commands/review.ts";
import { registerSim } from "./commands/sim.ts";
import { registerStatus } from "./commands/status.ts";
import { registerSynth } from "./commands/synth.ts";
import { registerTopology } from "./commands/topology.ts";
import { registerUi } from "./commands/ui.ts";
import { registerUnlock } from "./commands/unlock.ts";
import { registerUp } from "./commands/up.ts";
import { registerUpgrade } from "./commands/upgrade.ts";
import type { CommandContext, Output } from "./context.ts";
import { createProgram, runProgram } from "./program.ts";

function output(stream: NodeJS.WriteStream): Output {
  return { write: (text) => void stream.write(text), isTerminal: stream.isTTY === true };
}

const stop = new AbortController();
// Every machine that is waited for listens to it: many listeners are no leak here.
setMaxListeners(0, stop.signal);
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

const program = createProgram(context, [
  registerInit,
  registerDeploy,
  registerPlan,
  registerDestroy,
  registerReview,
  registerSynth,
  registerUp,
  registerUpgrade,
  registerStatus,
  registerDoctor,
  registerHealth,
  registerTopology,
  registerUi,
  registerUnlock,
  registerClientFiles,
  registerAddon,
  registerBackup,
  registerRestore,
  registerMachine,
  registerGen,
  registerConfig,
  registerImage,
  registerProvider,
  registerSim,
]);
await runProgram(program, process.argv.slice(2), context);
