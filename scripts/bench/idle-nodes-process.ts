// SPDX-License-Identifier: Apache-2.0
// A process of its own, so that nothing else is in its memory. Argument: how many machines.
import { Simulation, Simulator, startListeners } from "../../simulator/index.ts";

const count = Number(process.argv[2]);
const simulation = new Simulation({});
const listeners = startListeners(simulation, (error) => {
  throw error;
});
let given = 0;
// A network that nothing else on this computer is likely to use.
const simulator = new Simulator(simulation, async () => {
  given += 1;
  return `127.213.${Math.floor(given / 250)}.${1 + (given % 250)}`;
});
await Promise.all(
  Array.from({ length: count }, (_, index) => simulator.createMachine({ name: `m-${index}`, cluster: "idle" })),
);
await listeners.settled();
const listening = simulator.listMachines().filter(({ stage }) => stage === "maintenance").length;
if (listening !== count) throw new Error(`only ${listening} of ${count} machines are up`);
await new Promise((resolve) => setTimeout(resolve, 2000));
globalThis.gc?.();
process.stdout.write(JSON.stringify({ resident: process.memoryUsage().rss, listening }));
await listeners.close();
simulation.close();
