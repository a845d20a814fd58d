// SPDX-License-Identifier: Apache-2.0
import { ClusterServiceService } from "../../talos/api/gen/cluster/cluster.ts";
import { StateService } from "../../talos/api/gen/cosi/resource.ts";
import { InspectServiceService } from "../../talos/api/gen/inspect/inspect.ts";
import { ImageServiceService } from "../../talos/api/gen/machine/image.ts";
import { LifecycleServiceService } from "../../talos/api/gen/machine/lifecycle.ts";
import { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { StorageServiceService } from "../../talos/api/gen/storage/storage.ts";
import { TimeServiceService } from "../../talos/api/gen/time/time.ts";
import { clientConfigMethods } from "./client-configs.ts";
import { downgradeMethods, etcdMethods } from "./etcd-methods.ts";
import { eventMethods } from "./event-methods.ts";
import { fileMethods } from "./file-methods.ts";
import { healthMethods } from "./health-methods.ts";
import { imageMethods, legacyImageMethods } from "./image-methods.ts";
import { logMethods } from "./log-methods.ts";
import { machineBasics, storageMethods, timeMethods } from "./machine-basics.ts";
import { type ServedMethod, serveService } from "./method.ts";
import { lifecycleMethods, sequenceMethods } from "./sequence-methods.ts";
import { serviceMethods } from "./service-methods.ts";
import { socketMethods } from "./socket-methods.ts";
import { inspectMethods, stateMethods } from "./state-methods.ts";
import { statisticsMethods } from "./statistics-methods.ts";

/** Every method that a simulated machine serves on port 50000, by path. */
export const methods: ReadonlyMap<string, ServedMethod> = new Map(
  [
    ...serveService(MachineServiceService, {
      ...machineBasics,
      ...clientConfigMethods,
      ...etcdMethods,
      ...downgradeMethods,
      ...serviceMethods,
      ...sequenceMethods,
      ...eventMethods,
      ...logMethods,
      ...fileMethods,
      ...statisticsMethods,
      ...socketMethods,
      ...legacyImageMethods,
    }),
    ...serveService(ClusterServiceService, healthMethods),
    ...serveService(InspectServiceService, inspectMethods),
    ...serveService(ImageServiceService, imageMethods),
    ...serveService(LifecycleServiceService, lifecycleMethods),
    ...serveService(StateService, stateMethods),
    ...serveService(StorageServiceService, storageMethods),
    ...serveService(TimeServiceService, timeMethods),
  ].map((method) => [method.path, method]),
);
