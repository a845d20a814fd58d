// SPDX-License-Identifier: Apache-2.0
import type { ClusterEvent, EventListener } from "../../engine/index.ts";
import type { CommandContext } from "../context.ts";
import { plainLines } from "./plain-lines.ts";
import { TaskBoard } from "./task-board.ts";

export interface ProgressOptions {
  /** NDJSON on stdout instead of words on stderr. */
  readonly json?: boolean;
}

/** Runs the work and shows the engine's events: a task per machine on a terminal, else plain lines, or NDJSON. */
export async function withProgress<T>(
  context: CommandContext,
  options: ProgressOptions,
  work: (events: EventListener) => Promise<T>,
): Promise<T> {
  if (options.json) {
    // Machines must not be left half done because somebody typed `| head`.
    context.stdout.onlyTells?.();
    return work((event: ClusterEvent) => context.stdout.write(jsonLine(event)));
  }
  const write = (line: string) => context.stderr.write(`${line}\n`);
  if (!context.stderr.isTerminal) return work(plainLines(write));
  const board = new TaskBoard(write);
  try {
    const result = await work(board.listener);
    await board.finish();
    return result;
  } catch (error) {
    await board.fail();
    throw error;
  }
}

/** One engine event as a line of NDJSON. `v` changes when a field changes its meaning or goes away. */
function jsonLine({ at, step, steps, ...event }: ClusterEvent): string {
  const line = {
    v: 1,
    at: at.toISOString(),
    ...event,
    ...(step === undefined ? {} : { step: step.id }),
    ...(steps === undefined ? {} : { steps: steps.map(({ id, sentence }) => ({ id, sentence })) }),
  };
  return `${JSON.stringify(line)}\n`;
}
