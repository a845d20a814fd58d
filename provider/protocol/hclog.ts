// SPDX-License-Identifier: Apache-2.0
import { writeSync } from "node:fs";
import type { Log } from "../framework/index.ts";

/** Terraform splits longer lines, and half a JSON object is no log entry. */
const longestText = 32_000;

/** Writes log entries to stderr in the form that Terraform takes apart again for TF_LOG. */
export function createLog(write: (line: string) => void = writeStderr): Log {
  return (level, message, fields = {}) => {
    const entry: Record<string, unknown> = {
      "@level": level,
      "@message": cut(message),
      "@module": "talosmith",
      // Six digits of a second, or go-plugin takes the line for plain text.
      "@timestamp": new Date().toISOString().replace("Z", "000Z"),
    };
    for (const [name, value] of Object.entries(fields)) entry[name] = typeof value === "string" ? cut(value) : value;
    write(`${JSON.stringify(entry)}\n`);
  };
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}… (${text.length} characters)`;
}

/**
 * stderr is a pipe that does not block: when Terraform is slow to read, a write says EAGAIN and the line would be lost.
 * Waits for at most ten seconds; a reader that is gone (EPIPE) needs no logs.
 */
function writeStderr(line: string): void {
  let rest = Buffer.from(line);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; rest.length > 0 && attempt < 5000; ) {
    try {
      rest = rest.subarray(writeSync(2, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      attempt += 1;
      Atomics.wait(pause, 0, 0, 2);
    }
  }
}
