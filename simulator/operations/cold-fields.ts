// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";

type Tree = Readonly<Record<string, unknown>>;

/** Fields of `machine` that take effect at once; a change of any other needs a reboot. */
const hotMachine: ReadonlySet<string> = new Set([
  "ca",
  "acceptedCAs",
  "time",
  "certSANs",
  "install",
  "network",
  "sysfs",
  "sysctls",
  "logging",
  "controlPlane",
  "kubelet",
  "kernel",
  "registries",
  "pods",
  "seccompProfiles",
  "nodeAnnotations",
  "nodeLabels",
  "nodeTaints",
]);

const hotFeatures: ReadonlySet<string> = new Set([
  "kubernetesTalosAPIAccess",
  "kubePrism",
  "hostDNS",
  "imageCache",
  "nodeAddressSortAlgorithm",
]);

/** True when the way from one config to the other leads through a reboot. Documents beside v1alpha1 never need one. */
export function needsReboot(before: string, after: string): boolean {
  return !isDeepStrictEqual(coldPart(before), coldPart(after));
}

function coldPart(text: string): unknown {
  const root = parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .find((value): value is Tree => isTree(value) && (value.machine !== undefined || value.cluster !== undefined));
  if (root === undefined) return undefined;
  const { features, ...machine } = isTree(root.machine) ? root.machine : {};
  return {
    persist: root.persist,
    machine: keep(machine, (key) => !hotMachine.has(key)),
    features: isTree(features) ? keep(features, (key) => !hotFeatures.has(key)) : {},
  };
}

function keep(tree: Tree, wanted: (key: string) => boolean): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => wanted(key)));
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
