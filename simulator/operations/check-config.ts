// SPDX-License-Identifier: Apache-2.0
import { validateConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { kubernetesVersionOf } from "../kubernetes/node.ts";
import { readNodeConfig } from "../machine/node-config.ts";
import type { Machine } from "../machine/world.ts";

/** Refuses what a real machine refuses (throws `invalid-input` with its words); returns warnings. */
export function checkConfig(text: string, machine: Machine): readonly string[] {
  const installed = machine.disk.installed !== undefined;
  const { warnings, error } = validateConfig(text, "config", { mode: "metal", installed });
  if (error !== undefined) throw new TalosError("invalid-input", error);
  const { images } = readNodeConfig(text);
  const release = TalosVersion.parse(machine.talosVersion);
  const used = [
    ["kubelet", images.kubelet],
    ["kube-apiserver", images.apiServer],
    ["kube-controller-manager", images.controllerManager],
    ["kube-scheduler", images.scheduler],
  ] as const;
  for (const [component, image] of used) if (image !== "") requireKubernetes(release, component, image);
  return warnings;
}

/** Only the running machine knows which Kubernetes its release supports. */
function requireKubernetes(release: TalosVersion, component: string, image: string): void {
  try {
    release.requireKubernetes(kubernetesVersionOf(image).slice(1));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TalosError("invalid-input", `${component} image is not valid: ${reason}`, { cause: error });
  }
}
