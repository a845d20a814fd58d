// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";

/** Megabytes of memory that this process has used at most. */
export function peakMegabytes(): number {
  // What Linux calls maxRSS begins with what the parent had when it started this process.
  const status = "/proc/self/status";
  const found = existsSync(status) ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1] : undefined;
  return (found === undefined ? process.resourceUsage().maxRSS : Number(found)) / 1024;
}
