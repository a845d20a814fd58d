// SPDX-License-Identifier: Apache-2.0
import type { KubernetesObject } from "../machine/world.ts";
import { isTree } from "./field-paths.ts";

/**
 * Whether a registry would give this image. There is none behind the simulator: every well-formed reference is there,
 * except one whose tag says otherwise (`missing`, `no-such-tag` …), which is how a bad release is rehearsed.
 */
export function imageExists(reference: string): boolean {
  if (!/^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w.-]+)?(@sha256:[0-9a-f]+)?$/.test(reference)) return false;
  const tag = /:([^/:@]+)(?:@.*)?$/.exec(reference)?.[1] ?? "latest";
  return !/missing|no-such|does-?not-?exist/.test(tag);
}

/** The first container of the pod whose image can't be had. */
export function unpullable(pod: KubernetesObject): { readonly name: string; readonly image: string } | undefined {
  const spec = isTree(pod.spec) ? pod.spec : {};
  const containers = [spec.initContainers, spec.containers].flatMap((list) => (Array.isArray(list) ? list : []));
  return containers.find((container) => !imageExists(String(container.image ?? ""))) as
    | { name: string; image: string }
    | undefined;
}
