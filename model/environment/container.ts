// SPDX-License-Identifier: Apache-2.0
import { dockerDefaults } from "../schema/index.ts";
import { type AddressedMachine, placeMachine } from "./addressing.ts";
import { type Environment, machinesOf } from "./environment.ts";

export type ContainerEnvironment = Extract<Environment, { kind: "container" }>;

/** Where each machine is in Docker's network; machines of a further pool without an offset are left out. */
export function dockerPlaces(environment: ContainerEnvironment): readonly AddressedMachine[] {
  const network = environment.infrastructure.docker ?? dockerDefaults;
  return machinesOf(environment).flatMap((machine) => {
    const index = environment.workers.findIndex((pool) => pool.name === machine.pool);
    const usual =
      machine.role === "controlplane" ? network.controlPlaneOffset : index === 0 ? network.workerOffset : undefined;
    const first = environment.workers[index]?.addressOffset ?? usual;
    return first === undefined ? [] : [{ ...machine, ...placeMachine(network, machine.role, first, machine.index) }];
  });
}
