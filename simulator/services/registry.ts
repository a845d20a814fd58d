// SPDX-License-Identifier: Apache-2.0
import { StateService } from "../../talos/api/gen/cosi/resource.ts";
import { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { etcdMethods } from "./etcd-methods.ts";
import { kubeconfigMethods } from "./kubeconfig.ts";
import { machineBasics } from "./machine-basics.ts";
import { type ServedMethod, serveService } from "./method.ts";
import { sequenceMethods } from "./sequence-methods.ts";
import { serviceMethods } from "./service-methods.ts";
import { stateMethods } from "./state-methods.ts";

/** Every method that a simulated machine serves on port 50000, by path. */
export const methods: ReadonlyMap<string, ServedMethod> = new Map(
  [
    ...serveService(MachineServiceService, {
      ...machineBasics,
      ...kubeconfigMethods,
      ...etcdMethods,
      ...serviceMethods,
      ...sequenceMethods,
    }),
    ...serveService(StateService, stateMethods),
  ].map((method) => [method.path, method]),
);
