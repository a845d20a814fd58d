// SPDX-License-Identifier: Apache-2.0
import { type Attributes, attribute } from "../../provider/framework/index.ts";

/**
 * Arguments of talosmith_cluster that stacks give and the provider does not take yet: the Talos API through a load
 * balancer or tunnel, and workers of another stack's control plane. An entry goes as soon as the provider has it.
 */
export const agreedArguments: Attributes = {
  talos_endpoints: attribute.stringList({
    mode: "optional",
    description: "Where the Talos API of all machines is reached.",
  }),
  join: attribute.nestedObject({
    mode: "optional",
    description: "The control plane of another stack that these workers join.",
    attributes: {
      control_planes: attribute.stringList({ mode: "required", description: "Addresses of its Talos API." }),
    },
  }),
};
