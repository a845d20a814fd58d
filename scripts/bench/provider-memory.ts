// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { providerDirectory } from "../../provider/package.ts";
import { startedProvider } from "./provider-start.ts";
import type { Row } from "./row.ts";

export const providerMemory: Row = {
  name: "provider memory at handshake",
  anchor: "80 MB",
  budget: 1,
  async measure() {
    const child = await startedProvider(await providerDirectory());
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    child.kill("SIGKILL");
    return { ours: Number(kilobytes) / 1024, anchor: 80, unit: "MB" };
  },
};
