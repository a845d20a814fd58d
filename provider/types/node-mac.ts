// SPDX-License-Identifier: Apache-2.0
import { FunctionError, numberType, type ProviderFunction, stringType } from "../framework/index.ts";

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
