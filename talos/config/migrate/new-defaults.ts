// SPDX-License-Identifier: Apache-2.0

import { TalosError } from "../../errors.ts";
import { Contract, type DefaultChange } from "../../version/index.ts";
import type { YamlValue } from "../../yaml/index.ts";
import type { ConfigDocument } from "../document/config-file.ts";
import { textAt, type Value, valueAt } from "../document/value.ts";
import { findDocument, takeSetting } from "../placed-setting.ts";

type Documents = readonly ConfigDocument[];
type Off = Readonly<Record<string, YamlValue>>;

/** Something that a newer contract switches on in the configs of new clusters. */
export interface NewDefault {
  /** What a person chooses it by. */
  readonly id: string;
  /** Kind of the document that has it, with its name where it has one. */
  readonly document: string;
  /** Where configs have it, as a comparison of two names it. */
  readonly places: readonly { readonly document: string; readonly path: string }[];
  /** Whether a machine that runs the release has it with this config. */
  readonly isOn: (documents: Documents, talos: Contract) => boolean;
  /** Takes it out, on or off, so that two configs can be compared without regard to it. */
  readonly remove: (documents: Documents) => void;
  /** Patches that keep it off in configs of the contract; undefined where the contract does not allow that. */
  readonly off: (contract: Contract) => readonly Off[] | undefined;
  /** Whether only control planes have it. */
  readonly controlPlane: boolean;
  /** Whether it is on or off and nothing between. */
  readonly isSwitch: boolean;
}

const document = (kind: string, fields: Off): Off => ({ apiVersion: "v1alpha1", kind, ...fields });
const at = (documents: Documents, kind: string, path: string, name?: string) =>
  valueAt(findDocument(documents, name === undefined ? { kind } : { kind, name })?.section, path);

function take(documents: Documents, kind: string, path: string, name?: string): void {
  const found = findDocument(documents, name === undefined ? { kind } : { kind, name });
  if (found !== undefined) takeSetting(found.section, path);
}

const isUnset = (value: Value | undefined) => value === undefined || value === "" || value === 0;
const ephemeral = "EPHEMERAL";
const grub = "machine.install.grubUseUKICmdline";

/** Oldest first. Each is told in words by `Contract.newDefaultsSince`, under the same document. */
export const newDefaults: readonly NewDefault[] = [
  {
    id: "kernel-args-from-image",
    document: "v1alpha1",
    places: [{ document: "v1alpha1", path: grub }],
    controlPlane: false,
    isSwitch: true,
    isOn: (documents) =>
      findDocument(documents, { kind: "UnattendedInstallConfig" }) !== undefined ||
      at(documents, "v1alpha1", grub) === true,
    remove: (documents) => take(documents, "v1alpha1", grub),
    off: (contract) =>
      contract.kubernetesDocuments ? undefined : [{ machine: { install: { grubUseUKICmdline: false } } }],
  },
  {
    // With the document it is mounted securely, unless that says otherwise. Without, 1.13 alone does the same.
    id: "secure-ephemeral",
    document: `VolumeConfig/${ephemeral}`,
    places: [{ document: `VolumeConfig/${ephemeral}`, path: "" }],
    controlPlane: false,
    isSwitch: true,
    isOn: (documents, talos) => {
      if (!talos.includes(13)) return false;
      const found = findDocument(documents, { kind: "VolumeConfig", name: ephemeral });
      return found === undefined ? talos.mountsVarSecurely : valueAt(found.section, "mount.secure") !== false;
    },
    remove: (documents) => take(documents, "VolumeConfig", "mount.secure", ephemeral),
    off: () => [document("VolumeConfig", { name: ephemeral, mount: { secure: false } })],
  },
  {
    id: "filesystem-trim",
    document: "FilesystemTrimConfig",
    places: [{ document: "FilesystemTrimConfig", path: "" }],
    controlPlane: false,
    isSwitch: false,
    isOn: (documents) => !isUnset(at(documents, "FilesystemTrimConfig", "interval")),
    remove: (documents) => take(documents, "FilesystemTrimConfig", "interval"),
    // A patch cannot set the interval to zero: that counts as unset.
    off: () => [document("FilesystemTrimConfig", { $patch: "delete" })],
  },
  {
    id: "workload-isolation",
    document: "SecurityProfileConfig",
    places: [{ document: "SecurityProfileConfig", path: "" }],
    controlPlane: false,
    isSwitch: true,
    isOn: (documents) => at(documents, "SecurityProfileConfig", "workloadIsolation") === true,
    remove: (documents) => take(documents, "SecurityProfileConfig", "workloadIsolation"),
    off: () => [document("SecurityProfileConfig", { workloadIsolation: false })],
  },
  {
    // The probes of the API server are unauthenticated: without anonymous access it would be restarted again and again.
    id: "anonymous-health",
    document: "KubeAuthenticationConfig",
    places: [
      { document: "KubeAuthenticationConfig", path: "" },
      { document: "KubeAPIServerConfig", path: "startupProbes" },
    ],
    controlPlane: true,
    isSwitch: false,
    isOn: (documents) =>
      at(documents, "KubeAuthenticationConfig", "configuration.anonymous.enabled") === true ||
      (findDocument(documents, { kind: "KubeAPIServerConfig" }) !== undefined &&
        at(documents, "KubeAPIServerConfig", "startupProbes") !== false),
    remove: (documents) => {
      take(documents, "KubeAuthenticationConfig", "configuration.anonymous");
      take(documents, "KubeAPIServerConfig", "startupProbes");
      const jwt = at(documents, "KubeAuthenticationConfig", "configuration.jwt");
      if (Array.isArray(jwt) && jwt.length === 0) take(documents, "KubeAuthenticationConfig", "configuration.jwt");
    },
    off: () => [
      document("KubeAuthenticationConfig", { configuration: { anonymous: { enabled: false }, jwt: [] } }),
      document("KubeAPIServerConfig", { startupProbes: false }),
    ],
  },
];

/** What it does and can break. */
export function wordsOf({ document }: NewDefault): DefaultChange {
  const [oldest, newest] = [Contract.all()[0], Contract.newest()];
  const known = oldest && newest.newDefaultsSince(oldest).find((change) => change.document === document);
  if (known === undefined) throw new TalosError("internal", `no words for the default of ${document}`);
  return known;
}

/** Documents that say nothing but what they are. */
export function isBare({ section }: ConfigDocument): boolean {
  return [...section.keys()].every((key) => ["apiVersion", "kind", "name"].includes(key));
}

/** Whether Talos runs DHCP on links that the config does not name: it ends with the first document about a link. */
export function hasLinkDocuments(documents: Documents): boolean {
  return documents.some(({ kind }) => linkKinds.has(kind));
}

const linkKinds = new Set([
  "LinkConfig",
  "DHCPv4Config",
  "DHCPv6Config",
  "BondConfig",
  "BridgeConfig",
  "DummyLinkConfig",
  "VLANConfig",
  "VRFConfig",
  "VethConfig",
  "WireguardConfig",
]);

/** The host of the cluster's endpoint, which Talos puts into the API server's certificate by itself. */
export function endpointHost(documents: Documents): string {
  const legacy = findDocument(documents, { kind: "v1alpha1" })?.section;
  const url =
    textAt(legacy, "cluster.controlPlane.endpoint") ||
    textAt(findDocument(documents, { kind: "KubeClusterConfig" })?.section, "endpoint");
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1") : "";
}
