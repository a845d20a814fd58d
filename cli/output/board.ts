// SPDX-License-Identifier: Apache-2.0
import type { ToldEvent } from "../../engine/index.ts";
import { oneLine } from "../../talos/plain-text.ts";

/** What a machine, or the cluster as a whole, is doing. */
interface Row {
  readonly name: string;
  state: "pending" | "active" | "done" | "failed";
  text: string;
  /** Milliseconds, when the text was new. */
  since: number;
  /** Steps that were planned for it and are not finished. */
  readonly open: Set<string>;
}

/** Room for drawing. */
export interface Frame {
  readonly columns: number;
  readonly rows: number;
  /** Which picture of the turning mark. */
  readonly turn: number;
}

const turning = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const marks = { pending: "·", done: "✓", failed: "✗" } as const;

/** Everything that is known of a run while it lasts: steps by id, and a row for each machine. Draws, and does no I/O. */
export class Board {
  readonly #title: string;
  readonly #begun: number;
  readonly #rows = new Map<string, Row>();
  readonly #known = new Set<string>();
  readonly #finished = new Set<string>();
  /** Steps that were finished and then planned again, as those of each pass of rotate-ca are. */
  #repeated = 0;
  /** Steps that will be planned later; null when it is not known how many. */
  #coming: number | null = 0;
  /** For what concerns no single machine. */
  readonly #cluster: Row;

  constructor(title: string, now: number) {
    this.#title = title;
    this.#begun = now;
    this.#cluster = newRow("cluster", now);
  }

  /** Finished steps of all, such as `12/39`, or of at least so many: `12/39+`; empty before anything was planned. */
  get counter(): string {
    if (this.#known.size === 0) return "";
    const all = this.#repeated + this.#known.size + (this.#coming ?? 0);
    return `${this.#repeated + this.#finished.size}/${all}${this.#coming === null ? "+" : ""}`;
  }

  note({ type, message, machine, step, steps = [], coming }: ToldEvent, now: number): void {
    // Nothing goes on because machines were observed.
    if (type === "warning" || type === "observed") return;
    for (const { id, machine: of } of steps) {
      if (this.#finished.delete(id)) this.#repeated += 1;
      this.#plan(id, of, now);
    }
    if (type === "planned") {
      this.#coming = coming === undefined ? Math.max(0, (this.#coming ?? 0) - steps.length) : coming;
      return;
    }
    const row = machine === undefined ? this.#cluster : this.#rowOf(machine, now);
    if (type === "step-started" && step !== undefined) this.#plan(step.id, machine, now);
    if (type === "step-finished" && step !== undefined) this.#finish(step.id, row);
    const isDone = type === "healthy" || (type === "step-finished" && this.#isIdle(row));
    // Between two of its steps a machine waits for its turn, and nothing concerns all of them.
    const rests = type === "step-finished" && !isDone;
    row.state = type === "step-failed" ? "failed" : isDone ? "done" : rests ? "pending" : "active";
    const text = isDone && row !== this.#cluster ? "done" : rests ? "" : oneLine(message).replace(elapsedWords, "");
    if (row.text !== text) row.since = now;
    row.text = text;
  }

  /** Rows that wait for something, with what and for how long, as one line each. */
  waiting(now: number): readonly string[] {
    return this.#all()
      .filter(({ state }) => state === "active")
      .map((row) => `${row.name}: ${row.text}${elapsed(row, now)}`);
  }

  lines(now: number, { columns, rows, turn }: Frame): readonly string[] {
    const counter = this.counter === "" ? "" : `  ${this.counter} steps`;
    const head = `${this.#title}${counter}  ${duration(now - this.#begun)}`;
    const all = this.#all();
    const room = Math.max(1, rows - 2);
    const shown = all.length <= room ? all : [...all].sort(byUrgency).slice(0, room - 1);
    const width = Math.max(0, ...shown.map(({ name }) => name.length));
    const body = shown.map((row) => {
      const mark = row.state === "active" ? (turning[turn % turning.length] ?? "") : marks[row.state];
      const since = row.state === "active" ? elapsed(row, now) : "";
      const left = columns - width - 7 - since.length;
      return `  ${mark} ${row.name.padEnd(width)}  ${clipped(row.text, left)}${since}`.trimEnd();
    });
    const hidden = all.filter((row) => !shown.includes(row));
    if (hidden.length > 0) body.push(clipped(`  … ${summaryOf(hidden)}`, columns - 1));
    return [clipped(head, columns - 1), ...body];
  }

  #all(): readonly Row[] {
    const cluster = this.#cluster.text === "" ? [] : [this.#cluster];
    return [...this.#rows.values(), ...cluster];
  }

  #plan(id: string, machine: string | undefined, now: number): void {
    this.#known.add(id);
    if (machine !== undefined && !this.#finished.has(id)) this.#rowOf(machine, now).open.add(id);
  }

  #finish(id: string, row: Row): void {
    this.#known.add(id);
    this.#finished.add(id);
    row.open.delete(id);
  }

  /** The cluster's row counts for all. A machine may have steps that are planned later. */
  #isIdle(row: Row): boolean {
    if (this.#coming !== 0) return false;
    return row === this.#cluster ? this.#finished.size === this.#known.size : row.open.size === 0;
  }

  #rowOf(machine: string, now: number): Row {
    const row = this.#rows.get(machine) ?? newRow(machine, now);
    this.#rows.set(machine, row);
    return row;
  }
}

function newRow(name: string, now: number): Row {
  return { name, state: "pending", text: "", since: now, open: new Set() };
}

const urgency = { failed: 0, active: 1, pending: 2, done: 3 } as const;

function byUrgency(left: Row, right: Row): number {
  return urgency[left.state] - urgency[right.state];
}

function summaryOf(rows: readonly Row[]): string {
  const counts = (["active", "pending", "done"] as const).map((state) => {
    const count = rows.filter((row) => row.state === state).length;
    return count === 0 ? undefined : `${count} ${state}`;
  });
  return `${rows.length} more: ${counts.filter((text) => text !== undefined).join(", ")}`;
}

/** The engine says how long it has waited; rows count that by themselves. */
export const elapsedWords = / \(\d+ (?:s|min)\)$/;

/** A moment is not worth a number. */
function elapsed({ since }: Row, now: number): string {
  return now - since < 1000 ? "" : ` (${duration(now - since)})`;
}

/** `34 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function clipped(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
