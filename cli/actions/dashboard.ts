// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import {
  type ClusterView,
  ClusterViews,
  type ConsoleProject,
  findMachine,
  type MachineDetail,
  machineDetail,
  unknownMachine,
} from "../../web/server/index.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { openEnvironment } from "../../workspace/project.ts";
import type { CommandContext } from "../context.ts";
import { afterKey, type DashboardState, firstState, notice, plainDashboard, screen } from "../dashboard/screen.ts";
import { processTerminal, type Terminal } from "../dashboard/terminal.ts";
import { isRedrawable } from "../output/colors.ts";

/** Shows the cluster until `q`, or once where nobody sits at a terminal. */
export async function dashboard(
  name: string,
  { interval }: { readonly interval: number },
  context: CommandContext,
): Promise<void> {
  const options = { existing: true };
  const { root, environment } = openEnvironment(name, context, options);
  const project = { ...openConsoleProject(root, context, options), environmentNames: () => [name] };
  const now = () => context.clock.now();
  if (!isRedrawable(context.stdout, context) || process.stdin.isTTY !== true) {
    const views = new ClusterViews({ project, changed: () => {}, now, interval });
    await views.observeOnce(context.signal);
    for (const { fault } of views.broken) throw new TalosError("failed-precondition", fault);
    for (const cluster of views.clusters) context.stdout.write(plainDashboard(cluster, now()));
    return;
  }
  const askMachine = async (machine: string, signal: AbortSignal) => {
    try {
      const opened = await project.openCluster(environment);
      return await machineDetail(opened, findMachine(opened, machine), signal);
    } catch (error) {
      return unknownMachine(machine, TalosError.from(error).message);
    }
  };
  const terminal = processTerminal(process.stdin, process.stdout);
  try {
    await watchWith(terminal, { project, interval, now, askMachine, signal: context.signal });
  } finally {
    terminal.close();
  }
}

export interface Watching {
  readonly project: ConsoleProject;
  readonly interval: number;
  readonly now: () => Date;
  /** Not reaching it is an answer, too: it does not fail. */
  readonly askMachine: (machine: string, signal: AbortSignal) => Promise<MachineDetail>;
  readonly signal: AbortSignal;
}

/** Draws after every observation and every key, until the person or Ctrl-C ends it. */
export async function watchWith(terminal: Terminal, watching: Watching): Promise<void> {
  const { project, interval, now, askMachine } = watching;
  const over = new AbortController();
  const signal = AbortSignal.any([watching.signal, over.signal]);
  let state: DashboardState = firstState;
  let machine: MachineDetail | undefined;
  const cluster = (): ClusterView | undefined => views.clusters[0];
  const draw = () => {
    const seen = cluster();
    const [broken] = views.broken;
    if (signal.aborted) return;
    if (broken !== undefined) terminal.show(notice(broken.fault.split("\n"), terminal.size()));
    else if (seen === undefined) terminal.show(["looking …"]);
    else terminal.show(screen({ cluster: seen, ...given({ machine }) }, state, terminal.size(), now()));
  };
  const ask = async () => {
    const name = cluster()?.machines[state.chosen]?.name;
    if (!state.open || name === undefined) return;
    const found = await askMachine(name, signal);
    if (cluster()?.machines[state.chosen]?.name === name) machine = found;
    draw();
  };
  const views = new ClusterViews({
    project,
    changed: () => {
      draw();
      void ask();
    },
    now,
    interval,
  });
  terminal.onResize(draw);
  draw();
  views.start();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    terminal.onKey((key) => {
      state = afterKey(state, key, cluster()?.machines.length ?? 0);
      if (state.ended) return over.abort();
      draw();
      void ask();
    });
  });
  await views.stop();
}
