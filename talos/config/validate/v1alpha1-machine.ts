// SPDX-License-Identifier: Apache-2.0
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";
import { roles } from "../talosconfig/talosconfig.ts";
import { isSubnetOrAddress, subnetFaults, urlParts } from "./addresses.ts";
import { at, type Faults, type Findings, isFilled, quoted, unset } from "./findings.ts";
import { markFaults } from "./labels.ts";
import { deviceFindings } from "./network-devices.ts";
import { clusterFindings, cniFindings } from "./v1alpha1-cluster.ts";

export type Mode = "metal" | "cloud" | "container";

/** The release that judges, and the machine that the config is for. */
interface Circumstances {
  readonly mode: Mode;
  readonly rules: ConfigRules;
  /** As in `ValidateOptions`. */
  readonly installed: boolean;
}

/** Whether the v1alpha1 document is one of a control plane. */
export function isControlPlane(config: Section | undefined): boolean {
  return machineType(textAt(config, "machine.type")) === "controlplane";
}

/** Checks the v1alpha1 document. Errors come in the order in which Talos tells them. */
export function* v1alpha1Findings(config: Section, { mode, rules, installed }: Circumstances): Findings {
  const machine = sectionAt(config, "machine");
  if (machine === undefined) {
    yield "machine instructions are required";
    return;
  }
  const cluster = sectionAt(config, "cluster");
  const type = machineType(textAt(machine, "type"));
  if (!rules.judgesV1alpha1Alone) yield* deprecations(machine);
  yield* clusterFindings(cluster, { controlPlane: type === "controlplane", rules });
  const install = sectionAt(machine, "install");
  // From 1.14 on, install instructions may stand in a document, or be left out.
  const looked = rules.judgesV1alpha1Alone || install !== undefined;
  if (mode === "metal" && !installed && looked) yield* at("machine.install", installFaults(install));
  yield* at("machine.features.hostDNS", hostDnsFaults(machine, mode, rules));
  const written = textAt(machine, "type");
  if (type === "worker" && written !== "worker")
    yield { warning: `use "worker" instead of ${quoted(written)} for machine type`, path: "machine.type" };
  yield* authorityFindings(machine, cluster, type, rules);
  if (sectionAt(machine, "network") !== undefined) yield* networkFindings(machine);
  yield* at("machine.disks", diskFaults(machine));
  yield* at("machine.kubelet", kubeletFaults(machine));
  yield* at("machine.systemDiskEncryption", encryptionFaults(machine));
  yield* kubespanFindings(machine, cluster, rules);
  yield* at("machine.logging.destinations", loggingFaults(machine));
  yield* extensionFindings(machine);
  yield* markFaults(machine, ["nodeLabels", "nodeAnnotations", "nodeTaints"], "invalid machine node");
  yield* at("machine.features", featureFaults(machine, type));
  if (valueAt(config, "persist") === false) yield { error: ".persist should be enabled", path: "persist" };
}

function* deprecations(machine: Section): Findings {
  if (listAt(machine, "files").length > 0) {
    const warning = ".machine.files is deprecated; use dedicated configuration documents instead";
    yield { warning, path: "machine.files" };
  }
  if (isFilled(machine, "baseRuntimeSpecOverrides")) {
    const instead = "use a CRIBaseRuntimeSpecConfig document instead";
    const warning = `.machine.baseRuntimeSpecOverrides is deprecated; ${instead}`;
    yield { warning, path: "machine.baseRuntimeSpecOverrides" };
  }
}

type KnownType = "controlplane" | "worker" | undefined;

function machineType(text: string): KnownType {
  if (text === "controlplane" || text === "init") return "controlplane";
  return ["worker", "join", ""].includes(text) ? "worker" : undefined;
}

function* installFaults(install: Section | undefined): Faults {
  if (install === undefined) yield 'install instructions are required in "metal" mode';
  // An empty selector chooses whatever disk comes first.
  else if (textAt(install, "disk") === "" && !install.has("diskSelector"))
    yield "either install disk or diskSelector should be defined";
  if (listAt(install, "extraKernelArgs").length > 0 && valueAt(install, "grubUseUKICmdline") === true)
    yield "install.extraKernelArgs and install.grubUseUKICmdline can't be used together";
}

function* hostDnsFaults(machine: Section, mode: Mode, rules: ConfigRules): Faults {
  const path = ".machine.features.hostDNS";
  const enabled = valueAt(machine, "features.hostDNS.enabled") === true;
  const forwarding = valueAt(machine, "features.hostDNS.forwardKubeDNSToHost") === true;
  const required = mode === "container" && rules.judgesV1alpha1Alone;
  if (required && !enabled) yield `feature HostDNS should be enabled in container mode (${path}.enabled)`;
  if (required && !forwarding)
    yield `feature HostDNS should forward kube-dns to host in container mode (${path}.forwardKubeDNSToHost)`;
  if (forwarding && !enabled)
    yield `feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true (${path})`;
}

function* authorityFindings(
  machine: Section,
  cluster: Section | undefined,
  type: KnownType,
  rules: ConfigRules,
): Findings {
  const ca = sectionAt(machine, "ca");
  const accepted = listAt(machine, "acceptedCAs").length;
  if (ca === undefined && accepted === 0)
    yield {
      error: "issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)",
      path: "machine.ca",
    };
  if (type === undefined)
    yield { error: `unknown machine type ${quoted(textAt(machine, "type"))}`, path: "machine.type" };
  else if (type === "controlplane") {
    if (rules.judgesV1alpha1Alone || sectionAt(cluster, "network") !== undefined)
      yield* cniFindings(sectionAt(cluster, "network.cni"));
    if (ca === undefined) yield { error: "issuing CA is required (.machine.ca)", path: "machine.ca" };
    else if (textAt(ca, "key") === "") {
      const error = "issuing CA key is required for controlplane nodes (.machine.ca.key)";
      yield { error, path: "machine.ca.key" };
    }
  } else yield* workerFindings(machine, cluster);
}

function* workerFindings(machine: Section, cluster: Section | undefined): Findings {
  const ca = sectionAt(machine, "ca");
  const accepted = listAt(machine, "acceptedCAs").length;
  for (const device of sectionsAt(machine, "network.interfaces"))
    for (const link of [device, ...sectionsAt(device, "vlans")])
      if (sectionAt(link, "vip"))
        yield {
          error: "virtual (shared) IP is not allowed on non-controlplane nodes",
          path: "machine.network.interfaces",
        };
  if (textAt(ca, "key") !== "")
    yield {
      error: "issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)",
      path: "machine.ca",
    };
  if (ca !== undefined && textAt(ca, "crt") === "" && accepted === 0)
    yield {
      error: "trusted CA certificates are required on non-controlplane nodes (.machine.ca.crt, .machine.acceptedCAs)",
      path: "machine.ca.crt",
    };
  if (textAt(cluster, "ca.key") !== "")
    yield {
      error: "issuing Kubernetes API CA key is not allowed on non-controlplane nodes (.cluster.ca)",
      path: "cluster.ca",
    };
}

function* networkFindings(machine: Section): Findings {
  yield* deviceFindings(sectionsAt(machine, "network.interfaces"));
  const mtu = valueAt(machine, "network.kubespan.mtu");
  if (valueAt(machine, "network.kubespan.enabled") === true && typeof mtu === "number" && mtu < 1280)
    yield { error: "kubespan link MTU must be at least 1280", path: "machine.network.kubespan.mtu" };
}

function* diskFaults(machine: Section): Faults {
  for (const disk of sectionsAt(machine, "disks")) {
    const device = quoted(textAt(disk, "device"));
    for (const partition of sectionsAt(disk, "partitions").slice(0, -1))
      if (!valueAt(partition, "size"))
        yield `partition for disk ${device} is set to occupy full disk, but it's not the last partition in the list`;
  }
}

/** Fields of the kubelet's own configuration that Talos sets. */
export const protectedKubeletFields =
  "apiVersion authentication authorization cgroupRoot kind kubeletCgroups port protectKernelDefaults resolvConf rotateCertificates systemCgroups staticPodPath seccompDefault".split(
    " ",
  );

function* kubeletFaults(machine: Section): Faults {
  const extra = sectionAt(machine, "kubelet.extraConfig");
  yield* subnetFaults(textsAt(machine, "kubelet.nodeIP.validSubnets"), "kubelet nodeIP subnet");
  for (const field of protectedKubeletFields)
    if (extra?.has(field)) yield `kubelet configuration field ${quoted(field)} can't be overridden`;
}

function* encryptionFaults(machine: Section): Faults {
  for (const label of ["EPHEMERAL", "STATE"]) {
    const encryption = sectionAt(machine, `systemDiskEncryption.${label.toLowerCase()}`);
    if (encryption === undefined) continue;
    const at = `partition ${quoted(label)}:`;
    const keys = sectionsAt(encryption, "keys");
    if (keys.length === 0) yield `${at} no encryption keys provided`;
    const slots = new Set<number>();
    for (const key of keys) {
      const slot = Number(valueAt(key, "slot") ?? 0);
      if (slots.has(slot)) yield `${at} encryption key slot ${slot} is already in use`;
      slots.add(slot);
      if (!["nodeID", "static", "kms", "tpm"].some((kind) => key.has(kind)))
        yield `${at} encryption key at slot ${slot} doesn't have the configuration parameters`;
    }
  }
}

function* kubespanFindings(machine: Section, cluster: Section | undefined, rules: ConfigRules): Findings {
  if (valueAt(machine, "network.kubespan.enabled") !== true) return;
  if (rules.judgesV1alpha1Alone) {
    const when = "when .machine.network.kubespan is enabled";
    if (valueAt(cluster, "discovery.enabled") !== true)
      yield { error: `.cluster.discovery should be enabled ${when}`, path: "cluster.discovery" };
    const messages = { id: `.cluster.id should be set ${when}`, secret: `.cluster.secret should be set ${when}` };
    yield* unset(cluster, messages, "cluster.");
  }
  const path = "machine.network.kubespan.filters";
  const filters = sectionAt(machine, "network.kubespan.filters");
  yield* at(`${path}.endpoints`, subnetFaults(textsAt(filters, "endpoints"), "KubeSpan endpoint filter"));
  for (const text of textsAt(filters, "excludeAdvertisedNetworks"))
    if (!text.includes("/") || !isSubnetOrAddress(text)) {
      const error = `KubeSpan exclude advertised networks filter is not valid: ${quoted(text)}`;
      yield { error, path: `${path}.excludeAdvertisedNetworks` };
    }
}

function* loggingFaults(machine: Section): Faults {
  for (const destination of sectionsAt(machine, "logging.destinations")) {
    const { scheme, host } = urlParts(textAt(destination, "endpoint"));
    if (!destination.has("endpoint")) yield "empty logging endpoint";
    else {
      if (host === "") yield "empty logging endpoint's host";
      if (scheme !== "tcp" && scheme !== "udp") yield `unexpected logging endpoint scheme ${quoted(scheme)}`;
    }
    const format = textAt(destination, "format");
    if (format !== "json_lines") yield `unknown logging format ${quoted(format)}`;
  }
}

function* extensionFindings(machine: Section): Findings {
  const images = sectionsAt(machine, "install.extensions").map((extension) => textAt(extension, "image"));
  for (const image of images.filter((image, index) => images.indexOf(image) < index))
    yield { error: `duplicate system extension ${quoted(image)}`, path: "machine.install.extensions" };
  if (images.length === 0) return;
  const guide = "https://docs.siderolabs.com/talos/latest/platform-specific-installations/boot-assets";
  const warning = `.machine.install.extensions is deprecated, please see ${guide}`;
  yield { warning, path: "machine.install.extensions" };
}

function* featureFaults(machine: Section, type: KnownType): Faults {
  const access = sectionAt(machine, "features.kubernetesTalosAPIAccess");
  if (valueAt(access, "enabled") === true) {
    if (type !== "controlplane")
      yield "feature Kubernetes Talos API Access can only be enabled on control plane machines";
    for (const role of textsAt(access, "allowedRoles"))
      if (!roles.some((known) => known === role))
        yield `invalid role ${quoted(role)} in allowed roles for Kubernetes Talos API Access`;
  }
  const algorithm = textAt(machine, "features.nodeAddressSortAlgorithm");
  if (algorithm !== "" && !["v1", "v2"].includes(algorithm.toLowerCase()))
    yield `invalid node address sort algorithm: ${algorithm} does not belong to AddressSortAlgorithm values`;
}
