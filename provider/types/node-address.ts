// SPDX-License-Identifier: Apache-2.0
import { FunctionError, numberType, type ProviderFunction, stringType } from "../framework/index.ts";

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
