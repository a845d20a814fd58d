// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { type Infrastructure, Machine, type MachineRequest, type PoolRequest } from "../cluster/index.ts";
import { SimulatedMachineResource } from "../talosmith/index.ts";

/** A machine of the simulator. */
class SimulatedMachine extends Machine {
  readonly bootMedium = "simulator";
  readonly address: string;
  readonly resource: SimulatedMachineResource;

  constructor(scope: Construct, request: MachineRequest, cluster: string, talosVersion: string) {
    super(scope, request);
    this.resource = new SimulatedMachineResource(
      this,
      "Resource",
      { name: request.name, cluster, talos_version: talosVersion },
      // The release that it starts with; upgrades are the cluster's business.
      { lifecycle: { ignoreChanges: ["talos_version"] } },
    );
    this.address = this.resource.address;
  }

  get identity(): string {
    return this.resource.id;
  }

  override get fingerprint(): string {
    return this.resource.fingerprint;
  }
}

/** Machines of the simulator, on the machine that runs Terraform. */
export class SimulatedInfrastructure implements Infrastructure<object> {
  readonly certSans: readonly string[] = [];
  readonly trustOnFirstUse = false;
  readonly onThisComputer = true;
  readonly kind = "simulated";
  readonly platform = "metal";

  createMachines(scope: Construct, request: PoolRequest<object>): readonly Machine[] {
    const { clusterName, talosVersion } = request;
    return request.machines.map((machine) => new SimulatedMachine(scope, machine, clusterName, talosVersion));
  }

  endpoint(controlPlanes: readonly Machine[]): string {
    const [first] = controlPlanes;
    if (first === undefined) throw new Error("a simulated cluster needs a control plane or an endpoint");
    return endpointAt(first.address);
  }
}
