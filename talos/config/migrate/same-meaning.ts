// SPDX-License-Identifier: Apache-2.0

import type { Contract } from "../../version/index.ts";
import { type Change, diffConfigs } from "../diff.ts";
import { type ConfigDocument, cloneConfig, documentId } from "../document/config-file.ts";
import { type Value, valueAt } from "../document/value.ts";
import { MachineConfig } from "../machine-config.ts";
import { findDocument, takeSetting } from "../placed-setting.ts";
import { endpointHost, isBare, newDefaults } from "./new-defaults.ts";

/** What a migration does to one machine's config. */
export interface Comparison {
  /** What would mean something else. New defaults are not among it. */
  readonly changes: readonly Change[];
  /** Ids of new defaults that are on after it and were not before. */
  readonly switchedOn: readonly string[];
}

/** Compares the config of the older contract with the one of the newer by what they mean to a machine of the release. */
export function compareMeaning(before: MachineConfig, after: MachineConfig, talos: Contract): Comparison {
  const [left, right] = [cloneConfig(before.decode()), cloneConfig(after.decode())];
  const switchedOn: string[] = [];
  for (const one of newDefaults) {
    const [was, is] = [one.isOn(left, talos), one.isOn(right, talos)];
    if (is && !was) switchedOn.push(one.id);
    if (!was || (is && one.isSwitch)) for (const side of [left, right]) one.remove(side);
  }
  withoutImplied(left, right);
  const known = new Set(left.map(documentId));
  const relevant = right.filter((document) => known.has(documentId(document)) || !isBare(document));
  const here = new Set(relevant.map(documentId));
  const kept = left.filter((document) => here.has(documentId(document)) || !isBare(document));
  const changes = diffConfigs(MachineConfig.of(kept, before.rules), MachineConfig.of(relevant, after.rules));
  return { changes: changes.filter(({ kind }) => kind !== "moved"), switchedOn };
}

/** The differences between a config and that of a newer contract, for people. */
export interface ChangesByEffect {
  /** What a machine does differently after it, and what is only kept in another place. */
  readonly effective: readonly Change[];
  /** What the newer contract implies, or says where the older one did not need to. */
  readonly withoutEffect: readonly Change[];
}

export function changesByEffect(before: MachineConfig, after: MachineConfig, talos: Contract): ChangesByEffect {
  const found = diffConfigs(before, after);
  const { changes, switchedOn } = compareMeaning(before, after, talos);
  const switched = newDefaults.filter(({ id }) => switchedOn.includes(id));
  const matters = (change: Change) =>
    change.kind === "moved" ||
    changes.some((other) => isSamePlace(change, other)) ||
    switched.some((one) => one.places.some((place) => isSamePlace(change, place)));
  return { effective: found.filter(matters), withoutEffect: found.filter((change) => !matters(change)) };
}

type Place = Pick<Change, "document" | "path">;

/** One may be a part of the other. */
function isSamePlace(left: Place, right: Place): boolean {
  if (left.document !== right.document) return false;
  const [shorter, longer] = [left.path, right.path].sort((a, b) => a.length - b.length) as [string, string];
  return shorter === "" || longer === shorter || longer.startsWith(`${shorter}.`);
}

/** In one line, what has no effect; undefined when nothing is among the changes. */
export function withoutEffectInWords(changes: readonly Change[], contract: Contract): string | undefined {
  if (changes.length === 0) return undefined;
  const places = changes.map(({ document, path }) => (document === "v1alpha1" ? path : document));
  return `no effect, contract ${contract} means the same: ${[...new Set(places)].sort().join(", ")}`;
}

/** What newer contracts do without saying it. */
const implied: readonly (readonly [path: string, value: Value])[] = [
  ["machine.kubelet.disableManifestsDirectory", true],
  ["machine.features.rbac", true],
  ["machine.features.apidCheckExtKeyUsage", true],
  ["cluster.apiServer.disablePodSecurityPolicy", true],
];

/** Settings that workers do not read, and cannot have in the newer form. */
const ofControlPlanes = [
  "machine.controlPlane",
  "cluster.apiServer",
  "cluster.controllerManager",
  "cluster.scheduler",
  "cluster.proxy",
  "cluster.coreDNS",
  "cluster.network.cni",
  "cluster.controlPlane.localAPIServerPort",
  "cluster.allowSchedulingOnControlPlanes",
  "cluster.allowSchedulingOnMasters",
];

function withoutImplied(left: readonly ConfigDocument[], right: readonly ConfigDocument[]): void {
  const [old, now] = [left, right].map((documents) => findDocument(documents, { kind: "v1alpha1" })?.section);
  if (old === undefined) return;
  for (const [path, value] of implied)
    if (valueAt(old, path) === value && valueAt(now, path) === undefined) takeSetting(old, path);
  if (valueAt(old, "machine.type") === "worker")
    for (const path of ofControlPlanes) if (valueAt(now, path) === undefined) takeSetting(old, path);
  // A machine with a name of its own has no use for one that is made.
  const named = valueAt(findDocument(right, { kind: "HostnameConfig" })?.section, "hostname") !== undefined;
  if (named && valueAt(now, "machine.features.stableHostname") === undefined)
    takeSetting(old, "machine.features.stableHostname");
  const sans = valueAt(old, "cluster.apiServer.certSANs");
  if (!Array.isArray(sans)) return;
  const kept =
    valueAt(now, "cluster.apiServer.certSANs") ??
    valueAt(findDocument(right, { kind: "KubeAPIServerConfig" })?.section, "certExtraSANs");
  const host = endpointHost(left);
  if (Array.isArray(kept) && kept.includes(host)) return;
  const others = sans.filter((name) => name !== host);
  if (others.length === 0) takeSetting(old, "cluster.apiServer.certSANs");
  else sans.splice(0, sans.length, ...others);
}
