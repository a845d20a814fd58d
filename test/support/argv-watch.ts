// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";

/** Looks, many times a second, at the command lines of all processes on this computer until it is stopped. */
export function watchArguments(): { readonly stop: () => readonly string[] } {
  const seen = new Set<string>();
  const look = () => {
    for (const entry of readdirSync("/proc")) {
      if (!/^\d+$/.test(entry)) continue;
      try {
        seen.add(readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " "));
      } catch {
        // Gone meanwhile.
      }
    }
  };
  const timer = setInterval(look, 40);
  return {
    stop() {
      look();
      clearInterval(timer);
      return [...seen];
    },
  };
}
