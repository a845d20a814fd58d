// SPDX-License-Identifier: Apache-2.0
import type { ToldEvent } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { CommandContext } from "../context.ts";
import { Board, elapsedWords } from "./board.ts";
import { isRedrawable } from "./colors.ts";
import { stoppingText } from "./stopped.ts";
import { jsonLine } from "./table.ts";

export interface ProgressOptions {
  /** NDJSON on stdout instead of words on stderr. */
  readonly json?: boolean | undefined;
}

type Listener = (event: ToldEvent) => void;

/**
 * Runs the work and shows its events, whatever does the work: a live line per machine on a terminal; else lines with the
 * time, and one for each machine that is waited for after half a minute without any; or NDJSON.
 */
export async function withProgress<T>(
  context: CommandContext,
  { json, title = "" }: ProgressOptions & { readonly title?: string },
  work: (events: Listener) => Promise<T>,
): Promise<T> {
  if (json) {
    // Machines must not be left half done because somebody typed `| head`.
    context.stdout.onlyTells?.();
    return untilStopped(context, (event) => context.stdout.write(jsonLine(jsonEvent(event))), work);
  }
  const view = isRedrawable(context.stderr, context) ? new LiveView(title, context) : new PlainView(title, context);
  try {
    return await untilStopped(context, (event) => view.note(event), work);
  } finally {
    view.close();
  }
}

/** Answers the first signal at once: until the current step has ended, nothing else would show that it has come. */
async function untilStopped<T>(
  { signal, clock, stderr }: CommandContext,
  events: Listener,
  work: (events: Listener) => Promise<T>,
): Promise<T> {
  const tell = () => events({ type: "warning", at: clock.now(), message: stoppingText(stderr) });
  signal.addEventListener("abort", tell, { once: true });
  try {
    return await work(events);
  } finally {
    signal.removeEventListener("abort", tell);
  }
}

/** One event for programs. `v` changes when a field changes its meaning or goes away. */
function jsonEvent({ at, step, steps, ...event }: ToldEvent): object {
  const planned = steps?.map(({ id, sentence, machine }) => ({ id, sentence, ...given({ machine }) }));
  return { v: 1, at: at.toISOString(), ...event, ...given({ step: step?.id, steps: planned }) };
}

const marks: Readonly<Partial<Record<ToldEvent["type"], string>>> = {
  "step-finished": "✓",
  "step-failed": "✗",
  waiting: "…",
  warning: "!",
  healthy: "✓",
};

/** Steps name their machine themselves; what is waited for may name it among other things. */
function about({ type, machine, message }: ToldEvent): string {
  const isNamed = type === "waiting" ? message.startsWith(`${machine}:`) : message.includes(machine ?? "");
  return oneLine(machine === undefined || isNamed ? message : `${machine}: ${message}`);
}

/** Milliseconds without a line, after which a log shows that the work goes on. */
const heartbeat = 30_000;

/** Lines for a log. The start of a step is not worth one, nor is a wait that goes on. */
export class PlainView {
  readonly #board: Board;
  readonly #context: Pick<CommandContext, "stderr" | "clock">;
  readonly #timer: NodeJS.Timeout;
  readonly #shown = new Map<string | undefined, string>();
  #last: number;

  constructor(title: string, context: Pick<CommandContext, "stderr" | "clock">) {
    this.#context = context;
    this.#last = this.#now();
    this.#board = new Board(title, this.#last);
    this.#timer = setInterval(() => this.beat(), 1000).unref();
  }

  note(event: ToldEvent): void {
    this.#board.note(event, this.#now());
    const mark = marks[event.type];
    if (mark === undefined) return;
    const line = `${mark} ${about(event)}`;
    const reason = line.replace(elapsedWords, "");
    if (event.type === "waiting" && this.#shown.get(event.machine) === reason) return;
    this.#shown.set(event.machine, reason);
    this.#write(line);
  }

  /** Shows that the work goes on, where nothing was shown for a while. */
  beat(): void {
    if (this.#now() - this.#last < heartbeat) return;
    const waiting = this.#board.waiting(this.#now());
    for (const line of waiting.length === 0 ? ["working"] : waiting) this.#write(`… ${line}`);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #write(line: string): void {
    this.#last = this.#now();
    const time = new Date(this.#last).toISOString().slice(11, 19);
    const { counter } = this.#board;
    this.#context.stderr.write(`${time} ${counter === "" ? "" : `[${counter}] `}${line}\n`);
  }

  #now(): number {
    return this.#context.clock.now().getTime();
  }
}

/** Milliseconds between two pictures. */
const interval = 120;

/** Rows that are drawn over each other. Warnings stay above them. */
export class LiveView {
  readonly #board: Board;
  readonly #context: Pick<CommandContext, "stderr" | "clock">;
  readonly #timer: NodeJS.Timeout;
  #drawn = 0;
  #turn = 0;

  constructor(title: string, context: Pick<CommandContext, "stderr" | "clock">) {
    this.#context = context;
    this.#board = new Board(title, this.#now());
    this.#timer = setInterval(() => this.draw(), interval).unref();
  }

  note(event: ToldEvent): void {
    this.#board.note(event, this.#now());
    if (event.type === "warning") this.draw(`! ${about(event)}\n`);
  }

  /** Draws the rows again, below what stays. */
  draw(above = ""): void {
    const { columns, rows } = this.#context.stderr;
    // A terminal without a size reports 0 for both.
    const lines = this.#board.lines(this.#now(), { columns: columns || 80, rows: rows || 24, turn: this.#turn++ });
    this.#context.stderr.write(`${this.#clearing()}${above}${lines.join("\n")}\n`);
    this.#drawn = lines.length;
  }

  close(): void {
    clearInterval(this.#timer);
    this.draw();
  }

  /** Ends without a trace. */
  clear(): void {
    clearInterval(this.#timer);
    this.#context.stderr.write(this.#clearing());
  }

  /** Up to the first row and its start, for an echoed ^C moves the cursor to the right; and away with all of them. */
  #clearing(): string {
    return this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A\r\u001b[0J`;
  }

  #now(): number {
    return this.#context.clock.now().getTime();
  }
}

interface Status {
  /** Shows what is waited for meanwhile. @default - lines, written by the code that waits */
  readonly waits: ((reason: string) => void) | undefined;
  end(): void;
}

/** Shows a status, and what the work waits for, until it is done. */
export async function withStatus<T>(
  context: Pick<CommandContext, "stderr" | "clock" | "env">,
  text: string,
  work: (waits: (reason: string) => void) => Promise<T>,
): Promise<T> {
  const status = showStatus(context, text);
  let last = "";
  const line = (message: string) => {
    const reason = message.replace(elapsedWords, "");
    if (reason !== last) context.stderr.write(`… ${oneLine(message)}\n`);
    last = reason;
  };
  try {
    return await work(status.waits ?? line);
  } finally {
    status.end();
  }
}

/** Shows what is being prepared: on a terminal until its end, else as lines. */
export function showStatus(context: Pick<CommandContext, "stderr" | "clock" | "env">, text: string): Status {
  if (!isRedrawable(context.stderr, context)) {
    context.stderr.write(`${text}\n`);
    return { waits: undefined, end() {} };
  }
  const view = new LiveView(text, context);
  let isShown = true;
  return {
    waits: (message) => view.note({ type: "waiting", at: context.clock.now(), message }),
    end() {
      if (isShown) view.clear();
      isShown = false;
    },
  };
}
