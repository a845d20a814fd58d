// SPDX-License-Identifier: Apache-2.0
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { roles } from "../talosconfig/talosconfig.ts";
import { isSubnetOrAddress, subnetFaults, urlParts } from "./addresses.ts";
import { type Faults, type Findings, quoted, unset } from "./findings.ts";
import { markFaults } from "./labels.ts";
import { deviceFindings } from "./network-devices.ts";
import { clusterFaults, cniFindings } from "./v1alpha1-cluster.ts";

export type Mode = "metal" | "cloud" | "container";

/** What documents beside the v1alpha1 one already provide, in configs of contract 1.14. */
export interface Provided {
  readonly endpoint: boolean;
  readonly install: boolean;
  readonly hostDns: { readonly enabled: boolean; readonly forwarding: boolean } | undefined;
}

/** Checks the v1alpha1 document. Errors come in the order in which Talos tells them. */
export function* v1alpha1Findings(config: Section, mode: Mode, provided: Provided): Findings {
  const machine = sectionAt(config, "machine");
  if (machine === undefined) {
    yield "machine instructions are required";
    return;
  }
  const cluster = sectionAt(config, "cluster");
  const type = machineType(textAt(machine, "type"));
  const rules = { controlPlane: type === "controlplane", endpointElsewhere: provided.endpoint };
  yield* clusterFaults(cluster, rules);
  if (mode === "metal" && !provided.install) yield* installFaults(machine);
  yield* hostDnsFaults(machine, mode, provided);
  const written = textAt(machine, "type");
  if (type === "worker" && written !== "worker")
    yield { warning: `use "worker" instead of ${quoted(written)} for machine type` };
  yield* authorityFindings(machine, cluster, type);
  if (sectionAt(machine, "network") !== undefined) yield* networkFindings(machine);
  yield* diskFaults(machine);
  yield* kubeletFaults(machine);
  yield* encryptionFaults(machine);
  yield* kubespanFaults(machine, cluster);
  yield* loggingFaults(machine);
  yield* extensionFindings(machine);
  yield* markFaults(machine, ["nodeLabels", "nodeAnnotations", "nodeTaints"], "invalid machine node");
  yield* featureFaults(machine, type);
  if (valueAt(config, "persist") === false) yield ".persist should be enabled";
}

type KnownType = "controlplane" | "worker" | undefined;

function machineType(text: string): KnownType {
  if (text === "controlplane" || text === "init") return "controlplane";
  return ["worker", "join", ""].includes(text) ? "worker" : undefined;
}

function* installFaults(machine: Section): Faults {
  const install = sectionAt(machine, "install");
  if (install === undefined) yield 'install instructions are required in "metal" mode';
  // An empty selector chooses whatever disk comes first.
  else if (textAt(install, "disk") === "" && !install.has("diskSelector"))
    yield "either install disk or diskSelector should be defined";
  if (listAt(install, "extraKernelArgs").length > 0 && valueAt(install, "grubUseUKICmdline") === true)
    yield "install.extraKernelArgs and install.grubUseUKICmdline can't be used together";
}

function* hostDnsFaults(machine: Section, mode: Mode, provided: Provided): Faults {
  const path = ".machine.features.hostDNS";
  const enabled = provided.hostDns?.enabled ?? valueAt(machine, "features.hostDNS.enabled") === true;
  const forwarding = provided.hostDns?.forwarding ?? valueAt(machine, "features.hostDNS.forwardKubeDNSToHost") === true;
  if (mode === "container" && !enabled) yield `feature HostDNS should be enabled in container mode (${path}.enabled)`;
  if (mode === "container" && !forwarding)
    yield `feature HostDNS should forward kube-dns to host in container mode (${path}.forwardKubeDNSToHost)`;
  if (forwarding && !enabled)
    yield `feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true (${path})`;
}

function* authorityFindings(machine: Section, cluster: Section | undefined, type: KnownType): Findings {
  const ca = sectionAt(machine, "ca");
  const accepted = listAt(machine, "acceptedCAs").length;
  if (ca === undefined && accepted === 0)
    yield "issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)";
  if (type === undefined) yield `unknown machine type ${quoted(textAt(machine, "type"))}`;
  else if (type === "controlplane") {
    yield* cniFindings(sectionAt(cluster, "network.cni"));
    if (ca === undefined) yield "issuing CA is required (.machine.ca)";
    else if (textAt(ca, "key") === "") yield "issuing CA key is required for controlplane nodes (.machine.ca.key)";
  } else {
    for (const device of sectionsAt(machine, "network.interfaces"))
      for (const link of [device, ...sectionsAt(device, "vlans")])
        if (sectionAt(link, "vip")) yield "virtual (shared) IP is not allowed on non-controlplane nodes";
    if (textAt(ca, "key") !== "")
      yield "issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)";
    if (ca !== undefined && textAt(ca, "crt") === "" && accepted === 0)
      yield "trusted CA certificates are required on non-controlplane nodes (.machine.ca.crt, .machine.acceptedCAs)";
    if (textAt(cluster, "ca.key") !== "")
      yield "issuing Kubernetes API CA key is not allowed on non-controlplane nodes (.cluster.ca)";
  }
}

function* networkFindings(machine: Section): Findings {
  yield* deviceFindings(sectionsAt(machine, "network.interfaces"));
  const mtu = valueAt(machine, "network.kubespan.mtu");
  if (valueAt(machine, "network.kubespan.enabled") === true && typeof mtu === "number" && mtu < 1280)
    yield "kubespan link MTU must be at least 1280";
}

function* diskFaults(machine: Section): Faults {
  for (const disk of sectionsAt(machine, "disks")) {
    const device = quoted(textAt(disk, "device"));
    for (const partition of sectionsAt(disk, "partitions").slice(0, -1))
      if (!valueAt(partition, "size"))
        yield `partition for disk ${device} is set to occupy full disk, but it's not the last partition in the list`;
  }
}

const protectedKubeletFields =
  "apiVersion authentication authorization cgroupRoot kind kubeletCgroups port protectKernelDefaults resolvConf rotateCertificates systemCgroups staticPodPath seccompDefault";

function* kubeletFaults(machine: Section): Faults {
  const extra = sectionAt(machine, "kubelet.extraConfig");
  yield* subnetFaults(textsAt(machine, "kubelet.nodeIP.validSubnets"), "kubelet nodeIP subnet");
  for (const field of protectedKubeletFields.split(" "))
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

function* kubespanFaults(machine: Section, cluster: Section | undefined): Faults {
  if (valueAt(machine, "network.kubespan.enabled") !== true) return;
  const when = "when .machine.network.kubespan is enabled";
  if (valueAt(cluster, "discovery.enabled") !== true) yield `.cluster.discovery should be enabled ${when}`;
  yield* unset(cluster, { id: `.cluster.id should be set ${when}`, secret: `.cluster.secret should be set ${when}` });
  const filters = sectionAt(machine, "network.kubespan.filters");
  yield* subnetFaults(textsAt(filters, "endpoints"), "KubeSpan endpoint filter");
  for (const text of textsAt(filters, "excludeAdvertisedNetworks"))
    if (!text.includes("/") || !isSubnetOrAddress(text))
      yield `KubeSpan exclude advertised networks filter is not valid: ${quoted(text)}`;
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
    yield `duplicate system extension ${quoted(image)}`;
  if (images.length === 0) return;
  const guide = "https://docs.siderolabs.com/talos/latest/platform-specific-installations/boot-assets";
  yield { warning: `.machine.install.extensions is deprecated, please see ${guide}` };
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
