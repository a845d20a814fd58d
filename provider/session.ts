// SPDX-License-Identifier: Apache-2.0
import { dirname, join } from "node:path";
import { openSession, type Session } from "./protocol/index.ts";
import { talosmithProvider } from "./types/index.ts";

/** The whole provider, for the process that Terraform has started. */
export function talosmithSession(): Session {
  // Terraform starts the packaged file, which has the simulator's process beside it.
  const directory = dirname(process.argv[1] ?? "");
  return openSession(
    talosmithProvider({
      workingDirectory: process.cwd(),
      environment: process.env,
      daemonCommand: [process.execPath, join(directory, "simulator-daemon.cjs")],
    }),
  );
}
