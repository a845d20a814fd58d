// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { endpointAt } from "../../talos/endpoint-at.ts";
import type { Infrastructure, Machine, MachineSet, PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import { TalosmithResource } from "../talosmith/bindings.ts";

/** Machines of the simulator, on the machine that runs Terraform. */
export class SimulatedInfrastructure extends Construct implements Infrastructure<object> {
  readonly certSans: readonly string[] = [];
  readonly trustOnFirstUse = false;
  readonly onThisComputer = true;
  readonly kind = "simulated";
  readonly platform = "metal";

  createMachines(scope: Construct, { clusterName, talosVersion, rows }: PoolRequest<object>): MachineSet {
    const machines = new TalosmithResource(
      scope,
      "Resource",
      "talosmith_simulated_machine",
      { name: rows.each.name, cluster: clusterName, talos_version: talosVersion },
      // The release that they start with; upgrades are the cluster's business.
      { forEach: rows.forEach, lifecycle: { ignoreChanges: ["talos_version"] } },
    );
    return {
      resources: [machines],
      address: ({ key }) => machines.instance(key, "address"),
      identity: ({ key }) => machines.instance(key, "id"),
      fingerprint: ({ key }) => machines.instance(key, "fingerprint"),
    };
  }

  endpoint(controlPlanes: readonly Machine[]): string {
    const [first] = controlPlanes;
    if (first === undefined) refuse(this, "no endpoint; expected a control plane");
    return endpointAt(first.address);
  }
}
