// SPDX-License-Identifier: Apache-2.0
// Runs of talosmith on the simulator, recorded as data and shown again in virtual time.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { vi } from "vitest";
import { applyPlanned } from "../../cli/actions/change.ts";
import { consequences } from "../../cli/actions/upgrade.ts";
import { reportError } from "../../cli/output/report-error.ts";
import { deployedSummary } from "../../cli/output/summary.ts";
import { wrapped } from "../../cli/output/wrap.ts";
import type { ToldEvent } from "../../engine/index.ts";
import { changeVersion, fileReader } from "../../model/index.ts";
import type { Review } from "../../review/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { TalosError, type TalosErrorCode } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { withPlannedChange } from "../../workspace/change.ts";
import { type Deployed, deployedDirectly } from "../../workspace/deploy.ts";
import { type Manager, managerLine, managerName, managerOf } from "../../workspace/manager.ts";
import { deployedByTerraform } from "../../workspace/terraform/stack-outputs.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "./command-context.ts";

/** What a run has planned and reported. Addresses of machines are replaced; times are milliseconds since its start. */
export interface RecordedRun {
  /** The environment's file when the run was started. */
  readonly file: string;
  /** For an upgrade. */
  readonly to?: string;
  readonly manager: Manager;
  readonly review: Review;
  readonly events: readonly (Omit<ToldEvent, "at"> & { readonly at: number })[];
  readonly deployed?: Omit<Deployed, "seconds" | "runner" | "unseen">;
  readonly error?: { readonly code: TalosErrorCode; readonly message: string; readonly hint?: string };
  readonly milliseconds: number;
}

export const runFile = (talosVersion: string) =>
  `cluster: { talosVersion: ${talosVersion}, kubernetesVersion: 1.36.3, configContract: v1.13 }
infrastructure: { kind: simulated }
controlPlane: { count: 1 }
workers: [{ count: 2 }]
`;

/** A project with the environment lab. */
export function recordedProject(file: string): string {
  const root = mkdtempSync(join(tmpdir(), "talosmith-recorded-"));
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(join(root, "environments/lab.yaml"), file);
  return root;
}

/** Deploys lab as its file says, and keeps what there was to see. */
export async function recordRun(root: string, path: string, from: { file: string; to?: string }): Promise<RecordedRun> {
  const context = testContext({ cwd: root, env: { ...process.env, PATH: path }, clock: systemClock });
  const workspace = openWorkspace("lab", context, { existing: false });
  const manager = await managerOf(workspace);
  const events: ToldEvent[] = [];
  return withPlannedChange(workspace, manager, { intent: "deploy" }, async (change) => {
    const started = Date.now();
    const error = await change.apply((event) => events.push(event)).then(() => undefined, TalosError.from);
    const milliseconds = Date.now() - started;
    const deployed =
      error !== undefined
        ? undefined
        : manager.kind === "terraform"
          ? await deployedByTerraform(workspace, manager.binary)
          : await deployedDirectly(workspace);
    const told = events.map(({ at, type, message, machine, step, steps, coming }) => ({
      at: Math.max(0, at.getTime() - started),
      type,
      message,
      ...given({ machine, step: step && { id: step.id }, steps: steps?.map(withoutAction), coming }),
    }));
    const binary = manager.kind === "terraform" ? { binary: managerName(manager) } : {};
    const known = error && { code: error.code, message: error.message, ...(error.hint && { hint: error.hint }) };
    return {
      ...from,
      manager: { ...manager, ...binary },
      review: change.review,
      events: told,
      ...(deployed && { deployed }),
      ...(known && { error: known }),
      milliseconds,
    };
  });
}

type PlannedStep = NonNullable<ToldEvent["steps"]>[number];

/** What the views read of a step. */
function withoutAction({ id, sentence, destructive, machine }: PlannedStep): PlannedStep {
  return { id, sentence, destructive, machine };
}

/** The recording as text: each address of a machine by one that stands for it. */
export function recordingText(run: RecordedRun): string {
  const text = JSON.stringify(run, undefined, 1);
  const known = run.deployed?.machines.map(({ address }) => address) ?? [];
  const addresses = [...new Set([...known, ...(text.match(/\b127\.\d+\.\d+\.\d+\b/g) ?? [])])];
  return `${addresses.reduce((changed, address, index) => changed.replaceAll(address, `10.0.0.${11 + index}`), text)}\n`;
}

/** What is on a terminal: text, and rows that are drawn over. */
class Screen {
  #text = "";

  write(text: string): void {
    const [, up, rest = text] = /^\p{Cc}\[(\d+)A\r\p{Cc}\[0J([\s\S]*)$/u.exec(text) ?? [];
    const lines = this.#text.split("\n");
    // The last line is the empty one, where the cursor is.
    if (up !== undefined) this.#text = `${lines.slice(0, -1 - Number(up)).join("\n")}\n`;
    this.#text += rest;
  }

  get text(): string {
    return this.#text.replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠿");
  }
}

/** The run as a person sees it in a log, or on a terminal second by second, through the code of the command. */
export async function shownRun(run: RecordedRun, root: string, view: "ci" | "terminal"): Promise<string> {
  const [screen, pictures] = [new Screen(), [] as string[]];
  vi.useFakeTimers({ now: Date.parse("2026-11-18T06:00:00Z") });
  const start = Date.now();
  let [second, head] = [0, ""];
  // As main.ts shapes what goes to a terminal.
  const columns = view === "terminal" ? 80 : undefined;
  const write = (text: string) => {
    screen.write(wrapped(text, columns));
    const now = Math.floor((Date.now() - start) / 1000);
    if (view === "ci" || now <= second) return;
    second = now;
    pictures.push(`--- after ${second} s\n${screen.text.slice(head.length)}`);
  };
  const stderr = { write, isTerminal: view === "terminal", columns, rows: 24 };
  const context = {
    ...testContext({ cwd: root, env: { NO_COLOR: "1" }, clock: { now: () => new Date() } }),
    stderr,
    stdout: stderr,
  };
  const workspace = openWorkspace("lab", context, { existing: false });
  const change = run.to === undefined ? undefined : changeVersion("lab", "talosVersion", run.to, fileReader(root));
  for (const line of change === undefined ? [] : consequences(root, "talosVersion", change)) write(`${line}\n`);
  write(`${managerLine(workspace, run.manager)}\n`);
  const apply = async (events: (event: ToldEvent) => void) => {
    head = screen.text;
    for (const event of run.events) {
      await vi.advanceTimersByTimeAsync(start + event.at - Date.now());
      events({ ...event, at: new Date() });
    }
    await vi.advanceTimersByTimeAsync(Math.max(0, start + run.milliseconds - Date.now()));
    if (run.error === undefined) return { changed: true, unseen: undefined };
    throw new TalosError(run.error.code, run.error.message, run.error.hint ? { hint: run.error.hint } : {});
  };
  try {
    const planned = { review: run.review, isEmpty: false, unseen: undefined, warnings: [], apply };
    const flags = { yes: view === "ci" };
    await applyPlanned(planned, { workspace, manager: run.manager, flags, context, started: 0 });
    const end = { runner: managerName(run.manager), seconds: run.milliseconds / 1000 };
    if (run.deployed !== undefined)
      write(deployedSummary({ ...run.deployed, ...end }, "talosmith", pc.createColors(false)));
  } catch (error) {
    reportError(error, context);
  } finally {
    vi.useRealTimers();
  }
  if (view === "ci") return screen.text;
  return `${head}${pictures.join("")}--- at the end\n${screen.text.slice(head.length)}`;
}
