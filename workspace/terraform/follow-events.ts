// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, closeSync, openSync, readSync } from "node:fs";
import { rm } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { parseEvent, type ToldEvent } from "../../engine/index.ts";
import { endLine, type RunEnd } from "./run-end.ts";

const interval = 200;

/**
 * Tells what the provider writes into a file while the work lasts. `catchUp` tells at once what is there already. The
 * file is gone afterwards; who has it open still reads in its last line how the work has ended.
 */
export async function withFollowedEvents<T>(
  path: string,
  signal: AbortSignal,
  tell: (event: ToldEvent) => void,
  work: (catchUp: () => void) => Promise<T>,
): Promise<T> {
  const file = openSync(path, "a+", 0o600);
  const decoder = new StringDecoder("utf8");
  const buffer = Buffer.alloc(64 * 1024);
  let offset = 0;
  let rest = "";
  const catchUp = () => {
    for (let count = 1; count > 0; ) {
      count = readSync(file, buffer, 0, buffer.length, offset);
      offset += count;
      rest += decoder.write(buffer.subarray(0, count));
    }
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = parseEvent(line);
      if (event !== undefined) tell(event);
    }
  };
  const timer = setInterval(catchUp, interval);
  let isDone = false;
  try {
    const result = await work(catchUp);
    isDone = true;
    return result;
  } finally {
    clearInterval(timer);
    catchUp();
    writeEnd(file, isDone ? "done" : signal.aborted ? "stopped" : "failed");
    closeSync(file);
    await rm(path, { force: true });
  }
}

/** A disk that is full does not change what came of the work. */
function writeEnd(file: number, outcome: RunEnd["outcome"]): void {
  try {
    appendFileSync(file, endLine({ outcome, at: new Date() }));
  } catch {
    return;
  }
}
