// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import type { TalosVersion } from "../../version/index.ts";
import { completeVersion } from "../../version/index.ts";
import type { ConfigDocument } from "../document/config-file.ts";
import { textAt, valueAt } from "../document/value.ts";
import { type Findings, quoted } from "./findings.ts";
import { isControlPlane } from "./v1alpha1-machine.ts";

/** Where images of Kubernetes stand, by kind of document, and what Talos calls them. */
const images: Readonly<Record<string, readonly (readonly [title: string, path: string])[]>> = {
  v1alpha1: [
    ["kubelet", "machine.kubelet.image"],
    ["kube-apiserver", "cluster.apiServer.image"],
    ["kube-controller-manager", "cluster.controllerManager.image"],
    ["kube-scheduler", "cluster.scheduler.image"],
  ],
  KubeletConfig: [["kubelet", "image"]],
  KubeAPIServerConfig: [["kube-apiserver", "image"]],
  KubeControllerManagerConfig: [["kube-controller-manager", "image"]],
  KubeSchedulerConfig: [["scheduler", "image"]],
  KubeProxyConfig: [["proxy", "image"]],
};

/** Images of Kubernetes versions that the release cannot run: only a machine knows which it is. */
export function* kubernetesImageFindings({ kind, section }: ConfigDocument, talos: TalosVersion): Findings {
  if (valueAt(section, "enabled") === false) return;
  for (const [title, path] of images[kind] ?? []) {
    const image = textAt(section, path);
    if (image === "" || (path.startsWith("cluster.") && !isControlPlane(section))) continue;
    const fault = imageFault(image, talos);
    if (fault !== undefined) yield { error: `${title} image is not valid: ${fault}`, path };
  }
}

function imageFault(image: string, talos: TalosVersion): string | undefined {
  const [, version] = /:v([^@]*)(?:@.*)?$/.exec(image.slice(Math.max(image.lastIndexOf(":v"), 0))) ?? [];
  const unread = `failed to parse Kubernetes version from image reference ${quoted(image)}`;
  if (version === undefined) return `${unread}: invalid image reference: ${quoted(image)}`;
  try {
    talos.requireKubernetes(completeVersion(version));
    return undefined;
  } catch (error) {
    const { message } = TalosError.from(error);
    return message.startsWith("version of Kubernetes") ? message : `${unread}: ${message}`;
  }
}
