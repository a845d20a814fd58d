// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { join } from "node:path";
import { packageProvider } from "../../provider/package.ts";
import { fastest, type Row, succeed } from "./row.ts";

export const providerStart: Row = {
  name: "provider start to handshake",
  anchor: "node -e 0",
  budget: 2,
  async measure() {
    const { directory } = await packageProvider();
    const anchor = await fastest(15, () => succeed(process.execPath, ["-e", "0"]));
    const ours = await fastest(15, () => handshake(join(directory, "terraform-provider-talosmith.cjs")));
    return { ours, anchor, unit: "ms" };
  },
};

/** Starts the provider as terraform does and ends it when its handshake line is there. */
function handshake(file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], {
      env: {
        ...process.env,
        TF_PLUGIN_MAGIC_COOKIE: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        PLUGIN_PROTOCOL_VERSIONS: "6",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.once("data", () => child.kill("SIGKILL"));
    child.on("close", (code, signal) =>
      signal === null && code !== 0 ? reject(new Error(`ended with ${code} before its handshake`)) : resolve(),
    );
  });
}
