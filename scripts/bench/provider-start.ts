// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { providerDirectory } from "../../provider/package.ts";
import { byTurns, fastest, type Row, succeed } from "./row.ts";

export const providerStart: Row = {
  name: "provider start to handshake",
  anchor: "node -e 0",
  budget: 2,
  async measure() {
    const directory = await providerDirectory();
    return byTurns(
      15,
      () => started(directory),
      () => succeed(process.execPath, ["-e", "0"]),
    );
  },
};

/** Starts the provider as terraform does; resolves when its handshake line is there. */
export async function startedProvider(directory: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(directory, "terraform-provider-talosmith.cjs")], {
    env: {
      ...process.env,
      TF_PLUGIN_MAGIC_COOKIE: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
      PLUGIN_PROTOCOL_VERSIONS: "6",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`ended with ${code} before its handshake`)));
  });
  return child;
}

/** Milliseconds from the start to the handshake, the fastest of several. */
export async function startTime(runs: number): Promise<number> {
  // Packaged before the clock runs: to see whether it has to be made anew takes as long as a start.
  const directory = await providerDirectory();
  return fastest(runs, () => started(directory));
}

async function started(directory: string): Promise<void> {
  (await startedProvider(directory)).kill("SIGKILL");
}
