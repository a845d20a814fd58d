// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import type { Row } from "./row.ts";

export const idleNodes: Row = {
  name: "1,000 idle simulated nodes in one process",
  anchor: "1 GB of memory",
  budget: 1,
  async measure() {
    const script = new URL("idle-nodes-process.ts", import.meta.url).pathname;
    const args = ["--expose-gc", "--import", "tsx", script, "1000"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`the simulator ended with ${status}: ${stderr}`);
    const { resident, listening }: { resident: number; listening: number } = JSON.parse(stdout);
    return {
      ours: resident / 1e6,
      anchor: 1000,
      unit: "MB",
      note: `resident; each in maintenance mode behind its own gRPC server with TLS, ${listening} of them`,
    };
  },
};
