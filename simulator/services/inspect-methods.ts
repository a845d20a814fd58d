// SPDX-License-Identifier: Apache-2.0
import {
  ControllerRuntimeDependenciesResponse,
  DependencyEdgeType,
  type InspectServiceService,
} from "../../talos/api/gen/inspect/inspect.ts";
import { producedTypes } from "../resources/catalogue.ts";
import type { Handlers } from "./method.ts";

/** Which controller puts out which resources. What each reads is not modelled, so there are no input edges. */
export const inspectMethods: Handlers<typeof InspectServiceService> = {
  controllerRuntimeDependencies() {
    const edges = producedTypes().map(({ owner, namespace, type }) => ({
      controllerName: owner,
      edgeType: DependencyEdgeType.OUTPUT_EXCLUSIVE,
      resourceNamespace: namespace,
      resourceType: type,
      resourceId: "",
    }));
    return ControllerRuntimeDependenciesResponse.fromPartial({ messages: [{ edges }] });
  },
};
