// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { parseFault, type SimulatedMachine, type SimulatorControl } from "../../simulator/control/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { namesHint } from "../../talos/nearest-word.ts";
import { projectRoot } from "../../workspace/project.ts";
import { projectSimulator, simulatorDirectory } from "../../workspace/simulator.ts";
import type { CommandContext } from "../context.ts";
import { report } from "../output/report.ts";
import { jsonLine, jsonText, tableOf } from "../output/table.ts";

export async function list({ json }: { json: boolean }, context: CommandContext): Promise<void> {
  const machines = await simulatorOf(context).listMachines();
  if (json) return context.stdout.write(jsonText({ v: 1, machines }));
  const rows = machines.map(({ talosVersion: talos, ...machine }) => ({ ...machine, talos }));
  context.stdout.write(tableOf(["cluster", "name", "address", "stage", "talos"], rows));
  tellProblems(machines, context);
}

/** A machine that cannot listen looks as if it ran, and nobody hears it. */
function tellProblems(machines: readonly SimulatedMachine[], context: CommandContext): void {
  for (const { name, problem } of machines)
    if (problem !== undefined) context.stderr.write(`${name} does not answer: ${problem}\n`);
}

export async function up({ json }: { json: boolean }, context: CommandContext): Promise<void> {
  const machines = await simulatorOf(context).listMachines();
  if (json) return context.stdout.write(jsonText({ v: 1, machines }));
  context.stderr.write(
    machines.length === 0
      ? "There are no simulated machines. Deploy an environment of kind simulated to make some.\n"
      : `The simulator runs with ${machines.length} machines.\n`,
  );
  tellProblems(machines, context);
}

export async function down({ all, json }: { all: boolean; json: boolean }, context: CommandContext): Promise<void> {
  const done = (removed: number, sentence: string) => report(context, { json }, { removed }, sentence);
  if (!existsSync(simulatorDirectory(projectRoot(context.cwd, context.env))))
    return done(0, "There is no simulator to end.");
  const simulator = simulatorOf(context);
  const removed = all ? await simulator.listMachines() : [];
  for (const { id } of removed) await simulator.deleteMachine(id);
  if (!all) await simulator.shutdown();
  done(removed.length, all ? "Every simulated machine is gone." : "The simulator has ended; its machines are kept.");
}

export async function power(
  name: string,
  state: string,
  { json }: { json: boolean },
  context: CommandContext,
): Promise<void> {
  if (state !== "on" && state !== "off") {
    throw new TalosError("invalid-input", `the power of ${name} can't be "${state}"; expected on or off`);
  }
  const { simulator, machine } = await findMachine(name, context);
  await simulator.setPower(machine.id, state === "on");
  if (json) context.stdout.write(jsonLine({ v: 1, machine: machine.name, power: state }));
}

export async function fault(
  name: string,
  text: string | undefined,
  flags: { json: boolean },
  context: CommandContext,
): Promise<void> {
  const { simulator, machine } = await findMachine(name, context);
  const faults = text === undefined || text === "none" ? [] : [parseFault(text)];
  await simulator.setFaults(machine.id, faults);
  const kinds = faults.map(({ kind }) => kind);
  const now = kinds.join(", ") || "no fault";
  report(context, flags, { machine: machine.name, faults: kinds }, `${machine.name} has ${now} now.`);
}

async function findMachine(
  name: string,
  context: CommandContext,
): Promise<{ simulator: SimulatorControl; machine: SimulatedMachine }> {
  const simulator = simulatorOf(context);
  const machines = await simulator.listMachines();
  const machine = machines.find((candidate) => candidate.name === name);
  if (machine === undefined) {
    const known = machines.map((candidate) => candidate.name);
    throw new TalosError("not-found", `no simulated machine is called ${name}`, { hint: namesHint(name, known) });
  }
  return { simulator, machine };
}

const simulatorOf = (context: CommandContext): SimulatorControl =>
  projectSimulator(projectRoot(context.cwd, context.env));
