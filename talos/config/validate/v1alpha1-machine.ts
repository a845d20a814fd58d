// SPDX-License-Identifier: Apache-2.0
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { roles } from "../talosconfig/roles.ts";
import { isSubnetOrAddress, urlParts } from "./addresses.ts";
import { type Findings, listOfErrors, quoted } from "./findings.ts";
import { annotationFaults, labelFaults, taintFaults } from "./labels.ts";
import { checkDevices } from "./network-devices.ts";
import { checkCni, clusterFaults } from "./v1alpha1-cluster.ts";

export type Mode = "metal" | "cloud" | "container";

/** What documents beside the v1alpha1 one already provide, in configs of contract 1.14. */
export interface Provided {
  readonly endpoint: boolean;
  readonly install: boolean;
  readonly hostDns: { readonly enabled: boolean; readonly forwarding: boolean } | undefined;
}

/** Checks the v1alpha1 document. Errors come in the order in which Talos tells them. */
export function checkV1alpha1(config: Section, mode: Mode, provided: Provided, findings: Findings): void {
  const { errors, warnings } = findings;
  const machine = sectionAt(config, "machine");
  if (machine === undefined) {
    errors.push("machine instructions are required");
    return;
  }
  const cluster = sectionAt(config, "cluster");
  const type = machineType(textAt(machine, "type"));
  const rules = { controlPlane: type === "controlplane", endpointElsewhere: provided.endpoint };
  errors.push(...clusterFaults(cluster, rules));
  if (mode === "metal" && !provided.install) errors.push(...installFaults(machine));
  errors.push(...hostDnsFaults(machine, mode, provided));
  const written = textAt(machine, "type");
  if (type === "worker" && written !== "worker") {
    warnings.push(`use "worker" instead of ${quoted(written)} for machine type`);
  }
  checkAuthorities(machine, cluster, type, findings);
  checkNetwork(machine, findings);
  errors.push(...diskFaults(machine), ...kubeletFaults(machine), ...encryptionFaults(machine));
  errors.push(...kubespanFaults(machine, cluster), ...loggingFaults(machine));
  checkExtensions(machine, findings);
  errors.push(...metadataFaults(machine), ...featureFaults(machine, type));
  if (valueAt(config, "persist") === false) errors.push(".persist should be enabled");
}

type KnownType = "controlplane" | "worker" | undefined;

function machineType(text: string): KnownType {
  if (text === "controlplane" || text === "init") return "controlplane";
  return ["worker", "join", ""].includes(text) ? "worker" : undefined;
}

function installFaults(machine: Section): readonly string[] {
  const install = sectionAt(machine, "install");
  if (install === undefined) return ['install instructions are required in "metal" mode'];
  const faults: string[] = [];
  // An empty selector chooses whatever disk comes first.
  if (textAt(install, "disk") === "" && !install.has("diskSelector")) {
    faults.push("either install disk or diskSelector should be defined");
  }
  if (listAt(install, "extraKernelArgs").length > 0 && valueAt(install, "grubUseUKICmdline") === true) {
    faults.push("install.extraKernelArgs and install.grubUseUKICmdline can't be used together");
  }
  return faults;
}

function hostDnsFaults(machine: Section, mode: Mode, provided: Provided): readonly string[] {
  const path = ".machine.features.hostDNS";
  const enabled = provided.hostDns?.enabled ?? valueAt(machine, "features.hostDNS.enabled") === true;
  const forwarding = provided.hostDns?.forwarding ?? valueAt(machine, "features.hostDNS.forwardKubeDNSToHost") === true;
  const faults: string[] = [];
  if (mode === "container" && !enabled) {
    faults.push(`feature HostDNS should be enabled in container mode (${path}.enabled)`);
  }
  if (mode === "container" && !forwarding) {
    faults.push(`feature HostDNS should forward kube-dns to host in container mode (${path}.forwardKubeDNSToHost)`);
  }
  if (forwarding && !enabled) {
    faults.push(`feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true (${path})`);
  }
  return faults;
}

function checkAuthorities(machine: Section, cluster: Section | undefined, type: KnownType, findings: Findings): void {
  const { errors } = findings;
  const ca = sectionAt(machine, "ca");
  const accepted = listAt(machine, "acceptedCAs").length;
  if (ca === undefined && accepted === 0) {
    errors.push("issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)");
  }
  if (type === undefined) {
    errors.push(`unknown machine type ${quoted(textAt(machine, "type"))}`);
  } else if (type === "controlplane") {
    checkCni(sectionAt(cluster, "network.cni"), findings);
    if (ca === undefined) errors.push("issuing CA is required (.machine.ca)");
    else if (textAt(ca, "key") === "") {
      errors.push("issuing CA key is required for controlplane nodes (.machine.ca.key)");
    }
  } else {
    for (const device of sectionsAt(machine, "network.interfaces")) {
      for (const link of [device, ...sectionsAt(device, "vlans")]) {
        if (sectionAt(link, "vip")) errors.push("virtual (shared) IP is not allowed on non-controlplane nodes");
      }
    }
    if (ca !== undefined && textAt(ca, "key") !== "") {
      errors.push("issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)");
    }
    if (ca !== undefined && textAt(ca, "crt") === "" && accepted === 0) {
      errors.push(
        "trusted CA certificates are required on non-controlplane nodes (.machine.ca.crt, .machine.acceptedCAs)",
      );
    }
    if (textAt(cluster, "ca.key") !== "") {
      errors.push("issuing Kubernetes API CA key is not allowed on non-controlplane nodes (.cluster.ca)");
    }
  }
}

function checkNetwork(machine: Section, findings: Findings): void {
  if (sectionAt(machine, "network") === undefined) return;
  checkDevices(sectionsAt(machine, "network.interfaces"), findings);
  const mtu = valueAt(machine, "network.kubespan.mtu");
  if (valueAt(machine, "network.kubespan.enabled") === true && typeof mtu === "number" && mtu < 1280) {
    findings.errors.push("kubespan link MTU must be at least 1280");
  }
}

function diskFaults(machine: Section): readonly string[] {
  return sectionsAt(machine, "disks").flatMap((disk) => {
    const partitions = sectionsAt(disk, "partitions");
    return partitions.slice(0, -1).flatMap((partition) => {
      const size = valueAt(partition, "size");
      if (size !== undefined && size !== 0) return [];
      const device = quoted(textAt(disk, "device"));
      return [`partition for disk ${device} is set to occupy full disk, but it's not the last partition in the list`];
    });
  });
}

const protectedKubeletFields = [
  "apiVersion",
  "authentication",
  "authorization",
  "cgroupRoot",
  "kind",
  "kubeletCgroups",
  "port",
  "protectKernelDefaults",
  "resolvConf",
  "rotateCertificates",
  "systemCgroups",
  "staticPodPath",
  "seccompDefault",
];

function kubeletFaults(machine: Section): readonly string[] {
  const kubelet = sectionAt(machine, "kubelet");
  const subnets = textsAt(kubelet, "nodeIP.validSubnets").filter((subnet) => !isSubnetOrAddress(subnet));
  const extra = sectionAt(kubelet, "extraConfig");
  const fields = protectedKubeletFields.filter((field) => extra?.has(field));
  return [
    ...subnets.map((subnet) => `kubelet nodeIP subnet is not valid: ${quoted(subnet.replace(/^!/, ""))}`),
    ...fields.map((field) => `kubelet configuration field ${quoted(field)} can't be overridden`),
  ];
}

function encryptionFaults(machine: Section): readonly string[] {
  return ["EPHEMERAL", "STATE"].flatMap((label) => {
    const encryption = sectionAt(machine, `systemDiskEncryption.${label.toLowerCase()}`);
    if (encryption === undefined) return [];
    const keys = sectionsAt(encryption, "keys");
    const faults = keys.length === 0 ? [`partition ${quoted(label)}: no encryption keys provided`] : [];
    const slots = new Set<number>();
    for (const key of keys) {
      const slot = Number(valueAt(key, "slot") ?? 0);
      if (slots.has(slot)) faults.push(`partition ${quoted(label)}: encryption key slot ${slot} is already in use`);
      slots.add(slot);
      if (!["nodeID", "static", "kms", "tpm"].some((kind) => key.has(kind))) {
        faults.push(
          `partition ${quoted(label)}: encryption key at slot ${slot} doesn't have the configuration parameters`,
        );
      }
    }
    return faults;
  });
}

function kubespanFaults(machine: Section, cluster: Section | undefined): readonly string[] {
  if (valueAt(machine, "network.kubespan.enabled") !== true) return [];
  const when = "when .machine.network.kubespan is enabled";
  const faults: string[] = [];
  if (valueAt(cluster, "discovery.enabled") !== true) faults.push(`.cluster.discovery should be enabled ${when}`);
  if (textAt(cluster, "id") === "") faults.push(`.cluster.id should be set ${when}`);
  if (textAt(cluster, "secret") === "") faults.push(`.cluster.secret should be set ${when}`);
  const filters = sectionAt(machine, "network.kubespan.filters");
  for (const text of textsAt(filters, "endpoints")) {
    if (!isSubnetOrAddress(text))
      faults.push(`KubeSpan endpoint filter is not valid: ${quoted(text.replace(/^!/, ""))}`);
  }
  for (const text of textsAt(filters, "excludeAdvertisedNetworks")) {
    if (!text.includes("/") || !isSubnetOrAddress(text)) {
      faults.push(`KubeSpan exclude advertised networks filter is not valid: ${quoted(text)}`);
    }
  }
  return faults;
}

function loggingFaults(machine: Section): readonly string[] {
  return sectionsAt(machine, "logging.destinations").flatMap((destination) => {
    const faults: string[] = [];
    const endpoint = textAt(destination, "endpoint");
    if (!destination.has("endpoint")) faults.push("empty logging endpoint");
    else {
      const { scheme, host } = urlParts(endpoint);
      if (host === "") faults.push("empty logging endpoint's host");
      if (scheme !== "tcp" && scheme !== "udp") faults.push(`unexpected logging endpoint scheme ${quoted(scheme)}`);
    }
    const format = textAt(destination, "format");
    if (format !== "json_lines") faults.push(`unknown logging format ${quoted(format)}`);
    return faults;
  });
}

function checkExtensions(machine: Section, { errors, warnings }: Findings): void {
  const images = sectionsAt(machine, "install.extensions").map((extension) => textAt(extension, "image"));
  for (const image of images.filter((image, index) => images.indexOf(image) < index)) {
    errors.push(`duplicate system extension ${quoted(image)}`);
  }
  if (images.length === 0) return;
  const guide = "https://docs.siderolabs.com/talos/latest/platform-specific-installations/boot-assets";
  warnings.push(`.machine.install.extensions is deprecated, please see ${guide}`);
}

function metadataFaults(machine: Section): readonly string[] {
  const groups = [
    ["labels", labelFaults(sectionAt(machine, "nodeLabels"))],
    ["annotations", annotationFaults(sectionAt(machine, "nodeAnnotations"))],
    ["taints", taintFaults(sectionAt(machine, "nodeTaints"))],
  ] as const;
  return groups
    .filter(([, faults]) => faults.length > 0)
    .map(([kind, faults]) => `invalid machine node ${kind}: ${listOfErrors(faults)}`);
}

function featureFaults(machine: Section, type: KnownType): readonly string[] {
  const faults: string[] = [];
  const access = sectionAt(machine, "features.kubernetesTalosAPIAccess");
  if (valueAt(access, "enabled") === true) {
    if (type !== "controlplane") {
      faults.push("feature Kubernetes Talos API Access can only be enabled on control plane machines");
    }
    for (const role of textsAt(access, "allowedRoles")) {
      if (roles.some((known) => known === role)) continue;
      faults.push(`invalid role ${quoted(role)} in allowed roles for Kubernetes Talos API Access`);
    }
  }
  const algorithm = textAt(machine, "features.nodeAddressSortAlgorithm");
  if (algorithm !== "" && !["v1", "v2"].includes(algorithm.toLowerCase())) {
    faults.push(`invalid node address sort algorithm: ${algorithm} does not belong to AddressSortAlgorithm values`);
  }
  return faults;
}
