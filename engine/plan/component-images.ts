// SPDX-License-Identifier: Apache-2.0
import type { MachineConfig } from "../../talos/config/index.ts";
import type { KubernetesComponent } from "../step.ts";

/** Where the image stands in configs. As Talos does it, the v1alpha1 document comes first where both name one. */
const places: Readonly<Record<KubernetesComponent, readonly string[]>> = {
  "kube-apiserver": ["cluster.apiServer.image", "KubeAPIServerConfig:image"],
  "kube-controller-manager": ["cluster.controllerManager.image", "KubeControllerManagerConfig:image"],
  "kube-scheduler": ["cluster.scheduler.image", "KubeSchedulerConfig:image"],
  "kube-proxy": ["cluster.proxy.image", "KubeProxyConfig:image"],
  kubelet: ["machine.kubelet.image", "KubeletConfig:image"],
};

/** In the order in which an upgrade must go: the API server first, the kubelets last. */
export const kubernetesComponents = Object.keys(places) as readonly KubernetesComponent[];

/** The images of a machine config by the component that runs from them, in the order of an upgrade. */
export function componentImages(config: MachineConfig): ReadonlyMap<KubernetesComponent, string> {
  const images = new Map<KubernetesComponent, string>();
  for (const component of kubernetesComponents) {
    const image = config.textAt(imagePath(config, component) ?? "");
    if (image !== undefined) images.set(component, image);
  }
  return images;
}

function imagePath(config: MachineConfig, component: KubernetesComponent): string | undefined {
  return places[component].find((path) => config.textAt(path) !== undefined);
}

/** The versions (without v) of those whose image has one in its tag; a digest alone says none. */
export function componentVersions(config: MachineConfig): ReadonlyMap<KubernetesComponent, string> {
  const versions = [...componentImages(config)].map(([component, image]) => [component, imageVersion(image)] as const);
  return new Map(versions.filter((entry): entry is [KubernetesComponent, string] => entry[1] !== undefined));
}

/** A tag such as v1.36.3, maybe with the -slim or -fat of a kubelet, maybe with a digest behind it. */
const versionTag =
  /^(?<name>.+:v)(?<version>\d+\.\d+\.\d+(?:-(?!slim|fat)[0-9A-Za-z.]+)*)(?<variant>-slim|-fat)?(?<digest>@.+)?$/;

/** The version, without v, that the tag of an image says. */
export function imageVersion(image: string): string | undefined {
  return versionTag.exec(image)?.groups?.version;
}

/** The same config with other images of some components, where it names one. */
export function withComponentImages(
  config: MachineConfig,
  images: ReadonlyMap<KubernetesComponent, string>,
): MachineConfig {
  return config.withTexts(
    new Map([...images].map(([component, image]) => [imagePath(config, component) ?? "", image])),
  );
}

/** The desired config with the versions that run: of the same names, but a digest belongs to its own image. */
export function withRunningVersions(
  config: MachineConfig,
  running: ReadonlyMap<KubernetesComponent, string>,
): MachineConfig {
  const held = new Map<KubernetesComponent, string>();
  for (const [component, image] of componentImages(config)) {
    const [desired, other] = [versionTag.exec(image)?.groups, running.get(component)];
    const used = versionTag.exec(other ?? "")?.groups;
    if (desired === undefined || other === undefined || used === undefined) continue;
    if (used.version === desired.version) continue;
    held.set(component, used.digest === undefined ? `${desired.name}${used.version}${desired.variant ?? ""}` : other);
  }
  return withComponentImages(config, held);
}

/** Whether a control plane's config wants a kube-proxy at all. */
export function wantsProxy(config: MachineConfig): boolean {
  return config.value("cluster.proxy.disabled") !== true && config.value("KubeProxyConfig:enabled") !== false;
}
