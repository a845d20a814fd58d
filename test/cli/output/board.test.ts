// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Board, duration } from "../../../cli/output/board.ts";
import { colorsOf } from "../../../cli/output/colors.ts";
import { LiveView, PlainView, showStatus, withProgress } from "../../../cli/output/progress.ts";
import type { ToldEvent } from "../../../engine/index.ts";
import { testContext } from "../../support/command-context.ts";

const event = (type: ToldEvent["type"], message: string, more: Partial<ToldEvent> = {}): ToldEvent => ({
  type,
  at: new Date(0),
  message,
  ...more,
});
const steps = ["cp-1", "w-1"].map((machine) => ({
  id: `drain/${machine}`,
  sentence: `drain ${machine}`,
  destructive: false,
  machine,
}));
const planned = event("planned", "2 steps to do", { steps });
const finished = (machine: string) =>
  event("step-finished", `drain ${machine}`, { machine, step: { id: `drain/${machine}` } });
/** The rows of a terminal after this was written to it. */
function screenOf(text: string): readonly string[] {
  const rows = [""];
  let [row, column] = [0, 0];
  for (const [token, up] of text.matchAll(/\p{Cc}\[(\d+)A|\p{Cc}\[0J|\r|\n|[^\p{Cc}]+/gu)) {
    const line = rows[row] ?? "";
    if (up !== undefined) row -= Number(up);
    else if (token === "\r") column = 0;
    else if (token === "\n") [row, column] = [row + 1, 0];
    else if (token.endsWith("[0J")) rows.splice(row, Number.POSITIVE_INFINITY, line.slice(0, column));
    else {
      rows[row] = line.slice(0, column).padEnd(column) + token + line.slice(column + token.length);
      column += token.length;
    }
    rows[row] ??= "";
  }
  return rows;
}
const frame = { columns: 80, rows: 24, turn: 0 };

describe("the board of a run", () => {
  test("has a row for each machine: what it does, for how long, and how many steps are done", () => {
    const board = new Board("lab", 0);
    board.note(planned, 0);
    board.note(event("waiting", "rebooting", { machine: "w-1" }), 1000);
    board.note(finished("cp-1"), 2000);
    expect(board.lines(13_000, frame)).toEqual([
      "lab  1/2 steps  13 s",
      "  ✓ cp-1  done",
      "  ⠋ w-1   rebooting (12 s)",
    ]);
  });

  test("counts what later rounds add, and shows what concerns no single machine", () => {
    const board = new Board("lab", 0);
    board.note(planned, 0);
    board.note(finished("cp-1"), 0);
    board.note({ ...planned, steps: [{ id: "x", sentence: "x", destructive: false, machine: "w-1" }] }, 0);
    board.note(event("waiting", "waiting for etcd to be healthy"), 0);
    expect(board.counter).toBe("1/3");
    expect(board.lines(0, frame).at(-1)).toBe("  ⠋ cluster  waiting for etcd to be healthy");
  });

  test("counts steps that are planned again after they were finished, as rotate-ca does in each pass", () => {
    const board = new Board("lab", 0);
    for (const counters of [
      ["0/2", "1/2", "2/2"],
      ["2/4", "3/4", "4/4"],
    ]) {
      board.note(planned, 0);
      const seen = [board.counter];
      for (const machine of ["cp-1", "w-1"]) {
        board.note(finished(machine), 0);
        seen.push(board.counter);
      }
      expect(seen).toEqual(counters);
    }
    expect(board.lines(0, frame)).toEqual(["lab  4/4 steps  0 s", "  ✓ cp-1  done", "  ✓ w-1   done"]);
  });

  test.each([
    ["known", 2, "2/4", "2/4"],
    ["unknown", null, "2/2+", "2/4"],
  ])(
    "counts steps that come later where their number is %s, and calls no machine done before",
    (_, coming, early, late) => {
      const board = new Board("lab", 0);
      board.note({ ...planned, coming }, 0);
      board.note(finished("cp-1"), 0);
      board.note(finished("w-1"), 0);
      expect(board.lines(0, frame)).toEqual([`lab  ${early} steps  0 s`, "  · cp-1", "  · w-1"]);
      board.note({ ...planned, steps: steps.map((step) => ({ ...step, id: `uncordon/${step.machine}` })) }, 0);
      expect(board.counter).toBe(late);
      board.note(event("step-finished", "uncordon w-1", { machine: "w-1", step: { id: "uncordon/w-1" } }), 0);
      expect(board.lines(0, frame)).toEqual(["lab  3/4 steps  0 s", "  · cp-1", "  ✓ w-1   done"]);
    },
  );

  test("shows nothing of a machine between two of its steps", () => {
    const board = new Board("lab", 0);
    board.note(planned, 0);
    board.note({ ...planned, steps: [{ id: "x", sentence: "x", destructive: false, machine: "w-1" }] }, 0);
    board.note(finished("w-1"), 0);
    expect(board.lines(9000, frame).at(-1)).toBe("  · w-1");
    expect(board.waiting(9000)).toEqual([]);
  });

  test("shows what was done last for the whole cluster, and nothing because machines were observed", () => {
    const board = new Board("lab", 0);
    board.note(event("observed", "observed 2 machines"), 0);
    expect(board.lines(5000, frame)).toEqual(["lab  5 s"]);
    expect(board.waiting(5000)).toEqual([]);
    board.note(event("step-finished", "create client files", { step: { id: "client-files" } }), 0);
    expect(board.lines(5000, frame).at(-1)).toBe("  ✓ cluster  create client files");
    board.note(event("waiting", "waiting for etcd to be healthy"), 5000);
    expect(board.lines(5000, frame).at(-1)).toBe("  ⠋ cluster  waiting for etcd to be healthy");
  });

  test("marks a machine whose step failed", () => {
    const board = new Board("lab", 0);
    board.note(event("step-failed", "no disk\nat all", { machine: "w-1" }), 0);
    expect(board.lines(0, frame).at(-1)).toBe("  ✗ w-1  no disk at all");
  });

  test("never draws a line that would wrap, nor more lines than there are", () => {
    const board = new Board("lab", 0);
    for (let index = 1; index <= 100; index++)
      board.note(event("waiting", "waiting ".repeat(20), { machine: `w-${index}` }), 0);
    board.note(event("step-failed", "no disk", { machine: "w-100" }), 0);
    const lines = board.lines(60_000, { columns: 80, rows: 10, turn: 3 });
    expect(lines).toHaveLength(9);
    for (const line of lines) expect(line.length).toBeLessThan(80);
    expect(lines[1]).toBe("  ✗ w-100  no disk");
    expect(lines.at(-1)).toBe("  … 93 more: 93 active");
  });

  test.each([
    [999, "0 s"],
    [59_999, "59 s"],
    [125_000, "2 min 5 s"],
  ])("%s milliseconds are %s", (milliseconds, text) => expect(duration(milliseconds)).toBe(text));
});

describe("a run", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const at = (terminal: boolean) => {
    let now = Date.parse("2026-11-18T06:21:33Z");
    const context = testContext({ cwd: "/", clock: { now: () => new Date(now) } });
    const stderr = { ...context.stderr, isTerminal: terminal, columns: 80, rows: 24 };
    return { context: { ...context, stderr }, written: context.written, pass: (ms: number) => (now += ms) };
  };

  test("in a log is one line for each end and each new wait, with the time and the count", () => {
    const { context, written, pass } = at(false);
    const view = new PlainView("lab", context);
    view.note(planned);
    view.note(event("step-started", "drain w-1", { machine: "w-1" }));
    for (const message of ["rebooting", "rebooting", "waiting for etcd"])
      view.note(event("waiting", message, { machine: "w-1" }));
    pass(2000);
    view.note(finished("w-1"));
    view.note(event("warning", "an even number of control planes"));
    view.close();
    expect(written.stderr.split("\n")).toEqual([
      "06:21:33 [0/2] … w-1: rebooting",
      "06:21:33 [0/2] … w-1: waiting for etcd",
      "06:21:35 [1/2] ✓ drain w-1",
      "06:21:35 [1/2] ! an even number of control planes",
      "",
    ]);
  });

  test("in a log shows after half a minute of silence what is waited for", () => {
    const { context, written, pass } = at(false);
    const view = new PlainView("lab", context);
    view.note(event("waiting", "rebooting", { machine: "w-1" }));
    pass(29_000);
    view.beat();
    pass(2000);
    view.beat();
    view.beat();
    view.close();
    expect(written.stderr.split("\n").slice(1)).toEqual(["06:22:04 … w-1: rebooting (31 s)", ""]);
  });

  test("on a terminal without a size is drawn as on one of 80 columns", () => {
    const { context, written } = at(true);
    const view = new LiveView("lab", { ...context, stderr: { ...context.stderr, columns: 0, rows: 0 } });
    view.note(planned);
    view.close();
    expect(written.stderr).toBe("lab  0/2 steps  0 s\n  · cp-1\n  · w-1\n");
  });

  test("on a terminal is drawn over itself, with warnings above", () => {
    const { context, written } = at(true);
    const view = new LiveView("lab", context);
    view.note(planned);
    view.draw();
    view.note(event("warning", "an even number of control planes"));
    view.close();
    const [, second = ""] = written.stderr.split("\u001b[3A\r\u001b[0J");
    expect(second).toMatch(/^! an even number of control planes\nlab {2}0\/2 steps/);
    expect(written.stdout).toBe("");
  });

  test("on a terminal leaves nothing behind when Ctrl-C is echoed", () => {
    const { context, written } = at(true);
    const view = new LiveView("Planning lab", context);
    view.draw();
    // What the terminal itself writes where the cursor is.
    context.stderr.write("^C");
    view.clear();
    context.stderr.write("Stopped.\n");
    expect(screenOf(written.stderr)).toEqual(["Stopped.", ""]);
  });

  test("on a terminal that cannot be drawn over is as in a log", async () => {
    const { context, written } = at(true);
    const dumb = { ...context, env: { TERM: "dumb" } };
    await withProgress(dumb, { title: "lab" }, async (events) => {
      events(planned);
      events(finished("w-1"));
    });
    const status = showStatus(dumb, "Planning lab");
    status.end();
    expect(written.stderr).toBe("06:21:33 [1/2] ✓ drain w-1\nPlanning lab\n");
    expect(colorsOf(dumb.stderr, dumb).isColorSupported).toBe(false);
  });

  test("of a preparation says what is waited for until it ends", () => {
    const { context, written } = at(true);
    const status = showStatus({ ...context, env: { TERM: "xterm" } }, "Planning lab");
    status.waits?.("waiting for ada");
    vi.advanceTimersByTime(200);
    expect(written.stderr).toContain("cluster  waiting for ada");
    status.end();
    expect(screenOf(written.stderr)).toEqual([""]);
  });

  test("for programs is NDJSON, whatever does the work", async () => {
    const { context, written } = at(true);
    await withProgress(context, { json: true }, async (events) => {
      events(planned);
      events(finished("w-1"));
    });
    const lines = written.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ v: 1, type: "planned", steps: [{ id: "drain/cp-1", machine: "cp-1" }, {}] });
    expect(lines[1]).toMatchObject({ v: 1, type: "step-finished", step: "drain/w-1", machine: "w-1" });
    expect(written.stderr).toBe("");
  });
});
