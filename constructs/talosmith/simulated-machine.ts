// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type BindingMeta, Resource } from "../terraform/index.ts";

export interface SimulatedMachineArguments {
  readonly name: string;
  readonly cluster: string;
  readonly talos_version?: string;
}

/** A machine of the simulator. */
export class SimulatedMachineResource extends Resource<SimulatedMachineArguments> {
  constructor(scope: Construct, id: string, args: SimulatedMachineArguments, meta?: BindingMeta) {
    super(scope, id, "talosmith_simulated_machine", args, meta);
  }

  get address(): string {
    return this.getStringAttribute("address");
  }

  get fingerprint(): string {
    return this.getStringAttribute("fingerprint");
  }
}
