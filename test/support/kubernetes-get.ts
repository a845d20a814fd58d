// SPDX-License-Identifier: Apache-2.0
import { kubernetesCall } from "./kubernetes-call.ts";

/** GET with the first cluster and user of a kubeconfig. */
export function kubernetesGet(kubeconfig: string, path: string): Promise<string> {
  return kubernetesCall(kubeconfig, "GET", path);
}
