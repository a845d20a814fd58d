// SPDX-License-Identifier: Apache-2.0
import {
  type CallableMethod,
  callStream,
  callUnary,
  type InProcessOptions,
  type Machine,
  Simulation,
  Simulator,
  seededEntropy,
  type VirtualScheduler,
  virtualScheduler,
} from "../../simulator/index.ts";
import {
  ApplyConfigurationRequest,
  type ApplyConfigurationResponse,
  BootstrapRequest,
  MachineServiceService,
} from "../../talos/api/gen/machine/machine.ts";
import { configFor } from "./laboratory.ts";

/** Machines without sockets on a clock that passes only when told to. */
export class VirtualLaboratory {
  readonly clock: VirtualScheduler;
  readonly simulation: Simulation;
  readonly simulator: Simulator;

  /** Milliseconds by which things happen too late, as on a computer that is too busy. */
  late = 0;

  constructor(seed = "seed") {
    const clock = virtualScheduler(Date.UTC(2026, 10, 16));
    this.clock = clock;
    this.simulation = new Simulation({
      scheduler: { now: clock.now, at: (time, callback) => clock.at(time + this.late, callback) },
      entropy: seededEntropy(seed),
    });
    let last = 1;
    this.simulator = new Simulator(this.simulation, async () => {
      last += 1;
      return `10.5.${Math.floor(last / 250)}.${last % 250}`;
    });
  }

  now(id: string): Machine {
    const machine = this.simulation.world.machines[id];
    if (machine === undefined) throw new Error(`no machine ${id}`);
    return machine;
  }

  async machines(names: readonly string[], talosVersion?: string): Promise<Machine[]> {
    const created = names.map((name) =>
      this.simulator.createMachine({ name, cluster: "lab", ...(talosVersion === undefined ? {} : { talosVersion }) }),
    );
    await this.clock.advance(1_000);
    return (await Promise.all(created)).map(({ id }) => this.now(id));
  }

  call<Request, Reply>(
    machine: Machine,
    method: CallableMethod<Request, Reply>,
    request: Request,
    options: InProcessOptions = {},
  ): Promise<Reply> {
    return callUnary(this.simulation, machine.address, method, request, options);
  }

  stream<Request, Reply>(
    machine: Machine,
    method: CallableMethod<Request, Reply>,
    requests: Iterable<Request>,
    options: InProcessOptions = {},
  ): AsyncGenerator<Reply> {
    return callStream(this.simulation, machine.address, method, requests, options);
  }

  apply(
    machine: Machine,
    text: string,
    extra: Partial<ApplyConfigurationRequest> = {},
  ): Promise<ApplyConfigurationResponse> {
    const request = ApplyConfigurationRequest.fromPartial({ data: Buffer.from(text), mode: 1, ...extra });
    return this.call(machine, MachineServiceService.applyConfiguration, request);
  }

  async bootstrap(machine: Machine): Promise<void> {
    await this.call(machine, MachineServiceService.bootstrap, BootstrapRequest.create());
  }

  /** From nothing to ready; ten simulated seconds. */
  async cluster(controlPlanes: number, workers = 0, patches: string[] = []): Promise<Machine[]> {
    const names = [
      ...Array.from({ length: controlPlanes }, (_, index) => `cp-${index + 1}`),
      ...Array.from({ length: workers }, (_, index) => `w-${index + 1}`),
    ];
    const machines = await this.machines(names);
    const [first] = machines;
    if (first === undefined) return [];
    for (const machine of machines) {
      const type = machine.name.startsWith("cp-") ? "controlplane" : "worker";
      await this.apply(machine, configFor(type, first.address, machine.name, type === "controlplane" ? patches : []));
    }
    await this.clock.advance(5_000);
    await this.bootstrap(first);
    await this.clock.advance(10_000);
    return machines.map(({ id }) => this.now(id));
  }

  /** Names of the machines that say they are ready. */
  ready(): string[] {
    return this.simulator
      .listMachines()
      .filter((machine) => machine.ready)
      .map((machine) => machine.name);
  }
}
