// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { nodeAt, toPlainData, type YamlNode, type YamlScalar } from "../../talos/yaml/index.ts";
import type { KubernetesComponent } from "../step.ts";
import { configDocuments } from "./config-documents.ts";

interface ImagePlace {
  /** In the v1alpha1 document. */
  readonly path: readonly string[];
  /** The document of contract 1.14 that has the image in `image`. */
  readonly kind: string;
}

const places: Readonly<Record<KubernetesComponent, ImagePlace>> = {
  "kube-apiserver": { path: ["cluster", "apiServer", "image"], kind: "KubeAPIServerConfig" },
  "kube-controller-manager": { path: ["cluster", "controllerManager", "image"], kind: "KubeControllerManagerConfig" },
  "kube-scheduler": { path: ["cluster", "scheduler", "image"], kind: "KubeSchedulerConfig" },
  "kube-proxy": { path: ["cluster", "proxy", "image"], kind: "KubeProxyConfig" },
  kubelet: { path: ["machine", "kubelet", "image"], kind: "KubeletConfig" },
};

/** In the order in which an upgrade must go: the API server first, the kubelets last. */
export const kubernetesComponents = Object.keys(places) as readonly KubernetesComponent[];

/** The images of a machine config by the component that runs from them, in the order of an upgrade. */
export function componentImages(config: string): ReadonlyMap<KubernetesComponent, string> {
  return new Map([...imageNodes(config)].map(([component, { text }]) => [component, text]));
}

/** The versions (without v) of those whose image has one in its tag; a digest alone says none. */
export function componentVersions(config: string): ReadonlyMap<KubernetesComponent, string> {
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

/** The same config with other images of some components. Nothing else changes, not even a space. */
export function withComponentImages(config: string, images: ReadonlyMap<KubernetesComponent, string>): string {
  const changes = [...imageNodes(config)].flatMap(([component, { text, source }]) => {
    const image = images.get(component);
    return image === undefined || image === text || source === undefined ? [] : [{ image, source }];
  });
  let written = config;
  for (const { image, source } of changes.sort((a, b) => b.source[0] - a.source[0])) {
    const before = config.slice(...source);
    const quote = /^["']/.exec(before)?.[0] ?? "";
    const end = before.endsWith("\n") ? "\n" : "";
    written = `${written.slice(0, source[0])}${quote}${image}${quote}${end}${written.slice(source[1])}`;
  }
  return written;
}

/** The desired config with the versions that run: of the same names, but a digest belongs to its own image. */
export function withRunningVersions(config: string, running: ReadonlyMap<KubernetesComponent, string>): string {
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
export function wantsProxy(config: string): boolean {
  return !configDocuments(config).some((node) => {
    const document = toPlainData(node);
    return legacyNoProxy.safeParse(document).success || noProxy.safeParse(document).success;
  });
}

const legacyNoProxy = z.object({ cluster: z.object({ proxy: z.object({ disabled: z.literal(true) }) }) });
const noProxy = z.object({ kind: z.literal("KubeProxyConfig"), enabled: z.literal(false) });

/** As Talos does it, the v1alpha1 document comes first where both name an image. */
function imageNodes(config: string): ReadonlyMap<KubernetesComponent, YamlScalar> {
  const documents = configDocuments(config).map((node) => ({ node, kind: textAt(node, ["kind"])?.text }));
  const found = new Map<KubernetesComponent, YamlScalar>();
  for (const component of kubernetesComponents) {
    const { path, kind } = places[component];
    const legacy = documents.flatMap((one) => (one.kind === undefined ? (textAt(one.node, path) ?? []) : []));
    const split = documents.flatMap((one) => (one.kind === kind ? (textAt(one.node, ["image"]) ?? []) : []));
    const [image] = [...legacy, ...split];
    if (image !== undefined) found.set(component, image);
  }
  return found;
}

function textAt(document: YamlNode, path: readonly string[]): YamlScalar | undefined {
  const node = nodeAt(document, path);
  return node?.kind === "scalar" && node.text !== "" ? node : undefined;
}
