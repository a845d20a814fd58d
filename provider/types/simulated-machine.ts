// SPDX-License-Identifier: Apache-2.0
import type { SimulatedMachine } from "../../simulator/control/index.ts";
import { given } from "../../talos/given.ts";
import { type Attributes, attribute, DiagnosticError, isUnknown, type Resource } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { checkRelease } from "./value-rules.ts";

const attributes = {
  name: attribute.required.string("Name of the machine in its cluster.", { replaces: true }),
  cluster: attribute.required.string("Name of the cluster it is meant for.", { replaces: true }),
  talos_version: attribute.defaulted.string(
    "Talos release that the machine boots first, such as `v1.13.9`. A machine that is there is upgraded by its cluster; a change here does nothing to it.",
    { stable: true },
  ),
  id: attribute.computed.string("Identity of the machine in the simulator.", { stable: true }),
  address: attribute.computed.string("Loopback address of its Talos API.", { stable: true }),
  fingerprint: attribute.computed.string(
    "Fingerprint of its certificate in maintenance mode, for `talosctl --cert-fingerprint`.",
    { stable: true },
  ),
} satisfies Attributes;

function stateOf(machine: SimulatedMachine, talosVersion: string | null) {
  return {
    name: machine.name,
    cluster: machine.cluster,
    talos_version: talosVersion ?? machine.talosVersion,
    id: machine.id,
    address: machine.address,
    fingerprint: machine.fingerprint,
  };
}

/** A machine that answers the Talos API from a process on this computer. */
export const simulatedMachine: Resource<typeof attributes, Client> = {
  name: "talosmith_simulated_machine",
  description:
    "A simulated Talos machine: a real Talos API on a loopback address, served by a process on this computer. For rehearsals and tests; nothing runs on it.",
  attributes,
  timeouts: { create: "1m", delete: "1m" },

  validate: ({ config, diagnostics }) => checkRelease(config, diagnostics),

  async create({ planned, client }) {
    const simulator = await client.simulator();
    const version = isUnknown(planned.talos_version) ? null : planned.talos_version;
    const machine = await simulator.createMachine({
      name: planned.name,
      cluster: planned.cluster,
      ...given({ talosVersion: version ?? undefined, owner: client.owner }),
    });
    return stateOf(machine, version);
  },

  async read({ state, client }) {
    const simulator = await client.simulator();
    const machine = await simulator.getMachine(state.id ?? "");
    return machine === undefined ? null : stateOf(machine, state.talos_version);
  },

  async update({ prior, planned }) {
    const version = isUnknown(planned.talos_version) ? prior.talos_version : planned.talos_version;
    return { ...prior, talos_version: version };
  },

  async delete({ state, client }) {
    const simulator = await client.simulator();
    await simulator.deleteMachine(state.id ?? "");
  },

  identity: {
    attributes: { id: "Its id in the simulator." },
    of: ({ id }) => (id === null ? undefined : { id }),
    idOf: ({ id = "" }) => id,
  },

  async import({ id, client }) {
    const simulator = await client.simulator();
    const machine = await simulator.getMachine(id);
    if (machine !== undefined) {
      if (client.owner !== undefined) await simulator.setOwner(id, client.owner);
      return stateOf(machine, null);
    }
    const known = (await simulator.listMachines()).map((other) => other.id);
    throw new DiagnosticError({
      summary: "No such machine",
      detail: `The simulator has no machine ${JSON.stringify(id)}. It has: ${known.join(", ") || "none"}.`,
    });
  },
};
