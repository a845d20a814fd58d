// SPDX-License-Identifier: Apache-2.0
import {
  ApplyConfigurationRequest,
  BootstrapRequest,
  MachineServiceService,
} from "../talos/api/gen/machine/machine.ts";
import { Simulator } from "./daemon/simulator.ts";
import { seededEntropy } from "./machine/chance.ts";
import { virtualScheduler } from "./machine/scheduler.ts";
import { defaultTimings, type Timings } from "./machine/timings.ts";
import { callUnary } from "./services/in-process.ts";
import { Simulation } from "./simulation.ts";

export interface CriticalPathInput {
  readonly controlPlanes: number;
  readonly workers: number;
  /** The config of a machine, by its place and address; the first control plane's address is known first. */
  configOf(machine: {
    readonly type: "controlplane" | "worker";
    readonly name: string;
    readonly address: string;
  }): string;
  /** @default the daemon's */
  readonly timings?: Timings;
}

/** How finely time is cut: the answer is right to within a few of these. */
const step = 5;

/**
 * How long a bring-up takes when whoever drives it loses no time: the simulated milliseconds from power-on until every
 * machine is ready, each call coming at the first moment at which the machine takes it.
 */
export async function criticalPath(input: CriticalPathInput): Promise<number> {
  const clock = virtualScheduler(0);
  const timings = input.timings ?? defaultTimings;
  const simulation = new Simulation({ scheduler: clock, entropy: seededEntropy("critical path"), timings });
  let count = 0;
  const simulator = new Simulator(simulation, async () => {
    count += 1;
    return `10.${Math.floor(count / 60_000)}.${Math.floor(count / 250) % 240}.${1 + (count % 250)}`;
  });
  const named = (prefix: string, amount: number): string[] =>
    Array.from({ length: amount }, (_, index) => `${prefix}-${index + 1}`);
  const names = [...named("cp", input.controlPlanes), ...named("w", input.workers)];
  const creating = Promise.all(names.map((name) => simulator.createMachine({ name, cluster: "path" })));
  const pass = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await clock.advance(step);
  };
  let created = false;
  const settled = creating.finally(() => {
    created = true;
  });
  settled.catch(() => undefined);
  await pass(() => created);
  const machines = await creating;
  for (const { name, address } of machines) {
    const type = name.startsWith("cp-") ? "controlplane" : "worker";
    const data = Buffer.from(input.configOf({ type, name, address }));
    const request = ApplyConfigurationRequest.fromPartial({ data, mode: 1 });
    await callUnary(simulation, address, MachineServiceService.applyConfiguration, request);
  }
  const [first] = machines;
  if (first === undefined) return 0;
  await pass(() => simulation.world.machines[first.id]?.services.cri?.health === "healthy");
  await callUnary(simulation, first.address, MachineServiceService.bootstrap, BootstrapRequest.create());
  await pass(() => simulator.listMachines().every((machine) => machine.ready));
  simulation.close();
  return clock.now();
}
