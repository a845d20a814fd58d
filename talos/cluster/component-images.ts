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

/** The versions (without v) that a machine config names, by the images in it, wherever the contract puts them. */
export function componentVersions(config: string): ReadonlyMap<KubernetesComponent, string> {
  const found = new Map<KubernetesComponent, string>();
  for (const component of kubernetesComponents) {
    const version = pattern(component).exec(config)?.[2];
    if (version !== undefined) found.set(component, version);
  }
  return found;
}

/** The images of a machine config by the component that runs from them. */
export function componentImages(config: string): ReadonlyMap<KubernetesComponent, string> {
  const found = new Map<KubernetesComponent, string>();
  for (const component of kubernetesComponents) {
    const line = pattern(component).exec(config)?.[0];
    if (line !== undefined) found.set(component, line.replace(/^\s*image:\s*/, "").replaceAll(/["'\s]/g, ""));
  }
  return found;
}

/** The version of kube-proxy that a control plane's config asks for; undefined where it asks for none. */
export function proxyVersion(config: string): string | undefined {
  return isDisabled(config) ? undefined : componentVersions(config).get("kube-proxy");
}

function isDisabled(config: string): boolean {
  // Reading a whole config is dear, and plans are made often.
  if (!/^\s+disabled: true$/m.test(config)) return false;
  return parseYaml(config, "machine config").some((node) => {
    const document = toPlainData(node);
    return proxySchema.safeParse(document).data?.cluster.proxy.disabled === true;
  });
}

const proxySchema = z.object({ cluster: z.object({ proxy: z.object({ disabled: z.boolean() }) }) });

/** The same config with other versions of some components. Nothing else changes, not even a space. */
export function withComponentVersions(config: string, versions: ReadonlyMap<KubernetesComponent, string>): string {
  let result = config;
  for (const [component, version] of versions) {
    result = result.replace(
      pattern(component, "gm"),
      (_all, before: string, _old, after: string) => `${before}${version}${after}`,
    );
  }
  return result;
}

/** `image: <registry>/<component>:v<version>`, maybe quoted, maybe with the -slim or -fat of a kubelet. */
function pattern(component: KubernetesComponent, flags = "m"): RegExp {
  return new RegExp(
    `^(\\s*image:\\s*["']?[^\\s"']*\\/${component}:v)(\\d+\\.\\d+\\.\\d+(?:-(?!slim|fat)[0-9A-Za-z.]+)*)((?:-slim|-fat)?["']?\\s*)$`,
    flags,
  );
}
