// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { parseYaml, toPlainData } from "../yaml/index.ts";
import type { KubernetesComponent } from "./step.ts";

/** In the order in which an upgrade must go: the API server first, the kubelets last. */
export const kubernetesComponents: readonly KubernetesComponent[] = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
  "kubelet",
];

/**
 * `image: <registry>/<component>:v<version>`, maybe quoted, maybe with the -slim or -fat of a kubelet. One pattern for
 * all components, for configs are long and are looked through often.
 */
const images = new RegExp(
  `^(?<before>\\s*image:\\s*["']?[^\\s"']*\\/(?<component>${kubernetesComponents.join("|")}):v)(?<version>\\d+\\.\\d+\\.\\d+(?:-(?!slim|fat)[0-9A-Za-z.]+)*)(?<after>(?:-slim|-fat)?["']?\\s*)$`,
  "gm",
);

interface ImageLine {
  readonly before: string;
  readonly component: KubernetesComponent;
  readonly version: string;
  readonly after: string;
}

const lineOf = (match: RegExpMatchArray) => match.groups as unknown as ImageLine;

/** The versions (without v) that a machine config names, by the images in it, wherever the contract puts them. */
export function componentVersions(config: string): ReadonlyMap<KubernetesComponent, string> {
  return firstOfEach(config, (match) => lineOf(match).version);
}

/** The images of a machine config by the component that runs from them. */
export function componentImages(config: string): ReadonlyMap<KubernetesComponent, string> {
  return firstOfEach(config, ([line]) => line.replace(/^\s*image:\s*/, "").replaceAll(/["'\s]/g, ""));
}

/** In the order of an upgrade, whatever that of the config is. */
function firstOfEach<T>(config: string, what: (match: RegExpExecArray) => T): ReadonlyMap<KubernetesComponent, T> {
  const matches = [...config.matchAll(images)];
  const found = new Map<KubernetesComponent, T>();
  for (const component of kubernetesComponents) {
    const match = matches.find((candidate) => lineOf(candidate).component === component);
    if (match !== undefined) found.set(component, what(match));
  }
  return found;
}

/** Whether a control plane's config wants a kube-proxy at all. Slow: it reads the whole config. */
export function wantsProxy(config: string): boolean {
  return !parseYaml(config, "machine config").some((node) => {
    const document = toPlainData(node);
    return legacyNoProxy.safeParse(document).success || noProxy.safeParse(document).success;
  });
}

const legacyNoProxy = z.object({ cluster: z.object({ proxy: z.object({ disabled: z.literal(true) }) }) });
const noProxy = z.object({ kind: z.literal("KubeProxyConfig"), enabled: z.literal(false) });

/** The same config with other versions of some components. Nothing else changes, not even a space. */
export function withComponentVersions(config: string, versions: ReadonlyMap<KubernetesComponent, string>): string {
  return config.replace(images, (...match) => {
    const { before, component, version, after } = match.at(-1) as ImageLine;
    return `${before}${versions.get(component) ?? version}${after}`;
  });
}
