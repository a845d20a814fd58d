// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { runDaemon } from "./daemon/run-daemon.ts";

/** Entry point of the daemon process: `daemon.ts <directory>`. */
const [, , directory] = process.argv;
if (directory === undefined) {
  console.error("usage: daemon <directory>");
  process.exit(2);
}

// A log that can't be written, as on a full disk, must not end the machines.
process.stderr.on("error", () => undefined);

const numberFrom = (name: string): number | undefined => {
  const value = Number(process.env[name] ?? "");
  return value > 0 ? value : undefined;
};
runDaemon({
  directory,
  code: process.env.TALOSMITH_SIMULATOR_CODE ?? "unknown:",
  idleTimeout: numberFrom("TALOSMITH_SIMULATOR_IDLE_MS"),
  timeScale: numberFrom("TALOSMITH_SIMULATOR_TIME_SCALE"),
})
  .then(() => process.exit(0))
  .catch((error: unknown) => {
    // The last line of the log is what a client tells its user.
    console.error(error instanceof TalosError ? [error.message, error.hint].join("; ") : error);
    process.exit(1);
  });
