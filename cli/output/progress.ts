// SPDX-License-Identifier: Apache-2.0
import {
  type DefaultRenderer,
  Listr,
  ListrLogger,
  type ListrTaskWrapper,
  ProcessOutput,
  type SimpleRenderer,
} from "listr2";
import type { ClusterEvent, EventListener, ToldEvent } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "./table.ts";

export interface ProgressOptions {
  /** NDJSON on stdout instead of words on stderr. */
  readonly json?: boolean | undefined;
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
    return work((event: ClusterEvent) => context.stdout.write(jsonLine(jsonEvent(event))));
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

/** One engine event for programs. `v` changes when a field changes its meaning or goes away. */
function jsonEvent({ at, step, steps, ...event }: ClusterEvent): object {
  const planned = steps?.map(({ id, sentence }) => ({ id, sentence }));
  return { v: 1, at: at.toISOString(), ...event, ...given({ step: step?.id, steps: planned }) };
}

const marks: Readonly<Partial<Record<ClusterEvent["type"], string>>> = {
  "step-finished": "✓",
  "step-failed": "✗",
  waiting: "…",
  warning: "!",
  healthy: "✓",
};

/** The engine's events as one line each. The start of a step is not worth one. */
export function plainLines(
  write: (line: string) => void,
): (event: Pick<ToldEvent, "type" | "message" | "machine">) => void {
  return ({ type, message, machine }) => {
    const mark = marks[type];
    if (mark === undefined) return;
    const about = machine === undefined || message.includes(machine) ? "" : `${machine}: `;
    write(`  ${mark} ${oneLine(about + message)}`);
  };
}

type Wrapper = ListrTaskWrapper<unknown, typeof DefaultRenderer, typeof SimpleRenderer>;

interface Row {
  /** What was last told, also before the line is there. */
  told?: string;
  /** Steps planned for this machine that are not finished yet. */
  open: number;
  wrapper?: Wrapper;
  settle?: { resolve(): void; reject(error: Error): void };
}

/**
 * A live line per machine on a terminal: what it is doing or waiting for, and a tick when all its steps are done. One
 * more line, open to the end, is for what concerns them all. Before there is a plan, and for warnings, plain lines.
 */
export class TaskBoard {
  readonly #rows = new Map<string, Row>();
  readonly #cluster: Row = { open: 1 };
  readonly #plain: EventListener;
  readonly #warnings: ClusterEvent[] = [];
  #shown: Promise<unknown> | undefined;

  constructor(write: (line: string) => void) {
    this.#plain = plainLines(write);
  }

  readonly listener: EventListener = (event) => {
    if (event.type === "planned") this.#show(event);
    else if (this.#shown === undefined) this.#plain(event);
    // A line among those that move would be drawn over.
    else if (event.type === "warning") this.#warnings.push(event);
    else this.#tell(event);
  };

  /** Everything went well: what is still open was not needed. */
  async finish(): Promise<void> {
    await this.#close((row) => row.settle?.resolve());
  }

  async fail(): Promise<void> {
    await this.#close((row) => row.settle?.reject(new Error("stopped")));
  }

  async #close(settle: (row: Row) => void): Promise<void> {
    for (const row of [...this.#rows.values(), this.#cluster]) settle(row);
    await this.#shown;
    for (const warning of this.#warnings) this.#plain(warning);
  }

  #show({ steps = [] }: ClusterEvent): void {
    if (this.#shown !== undefined || steps.length === 0) return;
    for (const { machine } of steps) {
      const row = this.#rows.get(machine) ?? { open: 0 };
      row.open += 1;
      this.#rows.set(machine, row);
    }
    const tasks = [...this.#rows, ["cluster", this.#cluster] as const].map(([title, row]) => ({
      title,
      task: (_: unknown, wrapper: Wrapper) => {
        row.wrapper = wrapper;
        if (row.told !== undefined) wrapper.output = row.told;
        return new Promise<void>((resolve, reject) => {
          row.settle = { resolve, reject };
        });
      },
    }));
    const list = new Listr<unknown, "default", "simple">(tasks, {
      concurrent: true,
      exitOnError: false,
      // It would end the process at once; we stop at a safe point and say how to go on.
      registerSignalListeners: false,
      // The caller checked that stderr is a terminal; stdout, which may be a file, is for data.
      forceTTY: true,
      rendererOptions: { showErrorMessage: false, logger: stderrLogger(), icon: { COMPLETED: "✓", FAILED: "✗" } },
    });
    this.#shown = list.run();
  }

  #tell({ type, machine, message }: ClusterEvent): void {
    const own = machine === undefined ? undefined : this.#rows.get(machine);
    if (own === undefined || own.open <= 0) {
      // Later rounds of the plan find the lines of machines closed, or none.
      const about = machine === undefined || message.includes(machine) ? "" : `${machine}: `;
      show(this.#cluster, about + message);
      return;
    }
    show(own, message);
    if (type === "step-failed") own.settle?.reject(new Error(message));
    if (type !== "step-finished") return;
    own.open -= 1;
    if (own.open === 0) own.settle?.resolve();
  }
}

function stderrLogger(): ListrLogger {
  return new ListrLogger({ useIcons: true, processOutput: new ProcessOutput(process.stderr, process.stderr) });
}

function show(row: Row, message: string): void {
  row.told = oneLine(message);
  if (row.wrapper !== undefined) row.wrapper.output = row.told;
}
