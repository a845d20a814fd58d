// SPDX-License-Identifier: Apache-2.0
import { dirname, join } from "node:path";
import { serve } from "./protocol/index.ts";
import { talosmithProvider } from "./types/index.ts";

// Terraform starts the packaged file, which has the simulator's process beside it.
const directory = dirname(process.argv[1] ?? "");

try {
  serve(
    talosmithProvider({
      workingDirectory: process.cwd(),
      environment: process.env,
      daemonCommand: [process.execPath, join(directory, "simulator-daemon.cjs")],
    }),
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
