// SPDX-License-Identifier: Apache-2.0
import { FunctionError, numberType, type ProviderFunction, stringType } from "../framework/index.ts";
import { reasonOf } from "./translate-error.ts";

export const nodeAddress: ProviderFunction = {
  name: "node_address",
  summary: "Address of a machine by its place in a network",
  description:
    'The address that is `offset + index` places after the network\'s own: `node_address("10.0.0.0/24", 70, 1)` is `10.0.0.71`. An error outside of the usable hosts.',
  parameters: [
    { name: "cidr", type: stringType, description: "The network, such as `10.0.0.0/24`." },
    { name: "offset", type: numberType, description: "Place of the first machine, such as 70." },
    { name: "index", type: numberType, description: "Number of the machine, counted from 0." },
  ],
  returns: stringType,
  async call([cidr, offset, index]) {
    const { Cidr } = await import("../../model/index.ts");
    const network = Cidr.tryParse(String(cidr));
    if (network === undefined)
      throw new FunctionError(`${JSON.stringify(cidr)} is no IPv4 network such as 10.0.0.0/24`, 0);
    if (!Number.isSafeInteger(offset)) throw new FunctionError("must be a whole number", 1);
    if (!Number.isSafeInteger(index) || Number(index) < 0) throw new FunctionError("must be a whole number from 0", 2);
    const address = network.host(Number(offset) + Number(index));
    if (address !== undefined) return address;
    throw new FunctionError(`place ${Number(offset) + Number(index)} is outside of the hosts of ${String(cidr)}`, 2);
  },
};

export const nodeMac: ProviderFunction = {
  name: "node_mac",
  summary: "MAC address of a machine by its role and number",
  description:
    'The MAC address that talosmith gives its virtual machines: `node_mac("controlplane", 0)` is `52:54:00:c1:00:01`, `node_mac("worker", 1)` is `52:54:00:c2:00:02`.',
  parameters: [
    { name: "role", type: stringType, description: "`controlplane` or `worker`." },
    { name: "index", type: numberType, description: "Number of the machine among those of its role, counted from 0." },
  ],
  returns: stringType,
  async call([role, index]) {
    if (role !== "controlplane" && role !== "worker") throw new FunctionError('must be "controlplane" or "worker"', 0);
    if (!Number.isSafeInteger(index) || Number(index) < 0 || Number(index) > 0xfffe)
      throw new FunctionError("must be a whole number from 0 to 65534", 1);
    const { placeMachine } = await import("../../model/index.ts");
    const network = { cidr: "0.0.0.0/0", controlPlaneOffset: 0, workerOffset: 0 };
    return placeMachine(network, role, 0, Number(index) + 1).mac;
  },
};

export const patch: ProviderFunction = {
  name: "patch",
  summary: "A machine config with patches applied",
  description:
    "Applies strategic merge patches or JSON patches to a machine config, one after another, as `talosctl machineconfig patch` does.",
  parameters: [{ name: "config", type: stringType, description: "The machine config, YAML." }],
  variadic: { name: "patches", type: stringType, description: "Patches, YAML or JSON." },
  returns: stringType,
  async call([config, ...patches]) {
    const { applyPatches, parsePatch } = await import("../../talos/config/index.ts");
    const parsed = patches.map((text, index) =>
      orArgument(index + 1, () => parsePatch(String(text), `patch ${index + 1}`)),
    );
    return orArgument(0, () => applyPatches(String(config), parsed, "config"));
  },
};

function orArgument<T>(argument: number, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new FunctionError(reasonOf(error), argument);
  }
}
