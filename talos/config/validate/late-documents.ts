// SPDX-License-Identifier: Apache-2.0
import { parseByteCount } from "../document/byte-count.ts";
import { parseGoDuration } from "../document/go-duration.ts";
import { type Section, sectionAt, textAt, valueAt } from "../document/value.ts";
import { urlParts } from "./addresses.ts";
import { checkBgpInstance } from "./bgp.ts";
import type { Checks } from "./documents.ts";
import { expressionFault } from "./expressions.ts";
import { quoted } from "./findings.ts";
import { nameFaults as qualifiedNameFaults } from "./labels.ts";
import { linkFaults, probeFaults } from "./network-documents.ts";

/** Documents of storage, system and network that came with 1.14. */
export const lateChecks: Checks = {
  BGPInstanceConfig: checkBgpInstance,
  CRICustomizationConfig: (document, { errors }) =>
    errors.push(...qualifiedNameFaults(textAt(document, "name")).map((fault) => `invalid name: ${fault}`)),
  EtcFileConfig: (document, { errors }) => {
    const fault = etcPathFault(textAt(document, "name"));
    if (fault !== undefined) errors.push(fault);
  },
  FilesystemScrubConfig: (document, { errors }) => {
    const interval = parseGoDuration(textAt(document, "interval")) ?? 0n;
    if (interval !== 0n && interval < 10_000_000_000n) errors.push("scrub interval: minimum value is 10s");
  },
  HTTPProbeConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("probe name is required");
    const url = textAt(document, "url");
    const { scheme, host } = urlParts(url);
    if (url === "") errors.push("HTTP probe URL is required");
    else if (scheme !== "http" && scheme !== "https") {
      errors.push(`HTTP probe URL scheme must be http or https, got ${quoted(scheme)}`);
    } else if (host === "") {
      errors.push("HTTP probe URL must be an absolute http or https URL with a non-empty host");
    }
    const timeout = textAt(document, "timeout");
    if (timeout.startsWith("-")) errors.push(`HTTP probe timeout cannot be negative: ${timeout}`);
    errors.push(...probeFaults(document));
  },
  KernelModuleConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name is required");
  },
  LVMLogicalVolumeConfig: (document, { errors }) =>
    errors.push(...nameFaults(document, 63), ...logicalVolumeFaults(document)),
  LVMVolumeGroupConfig: (document, { errors }) => errors.push(...nameFaults(document, 63), ...selectorFaults(document)),
  RAIDArrayConfig: (document, { errors }) => errors.push(...nameFaults(document, 32), ...selectorFaults(document)),
  SysctlConfig: (document, { errors }) => {
    if (sectionAt(document, "params")?.has("")) errors.push("sysctl key cannot be empty");
  },
  SysfsConfig: (document, { errors }) => {
    if (sectionAt(document, "params")?.has("")) errors.push("sysfs key cannot be empty");
  },
  UnattendedInstallConfig: (document, { errors, warnings }) => {
    if (textAt(document, "installer.image") === "") {
      const reason = "if Talos is not booted from asset built by Image Factory, installation will fail";
      warnings.push(`installer.image is not set, ${reason}`);
    }
    const match = textAt(document, "provisioning.diskSelector.match");
    const fault = expressionFault(match, "disk");
    if (match === "") errors.push("provisioning.volumeSelector.match is required");
    else if (fault !== undefined) errors.push(`provisioning.volumeSelector.match: ${fault}`);
  },
  VethConfig: (document, { errors }) => {
    const [name, peer] = [textAt(document, "name"), textAt(document, "peer.name")];
    errors.push(...linkNameFaults("name", name), ...linkNameFaults("peer name", peer));
    if (name !== "" && name === peer) errors.push("name and peer name must be different");
    errors.push(...linkFaults(document), ...linkFaults(sectionAt(document, "peer") ?? new Map()));
  },
};

const managedFiles = ["resolv.conf", "hosts", "machine-id", "extensions.yaml", "localtime", "os-release", "xattr.conf"];
const managedFolders = "apparmor.d apparmor ca-certificates cni cri iscsi kubernetes lvm nvme pki selinux ssl".split(
  " ",
);

function etcPathFault(path: string): string | undefined {
  if (path === "") return "user etc file name cannot be empty";
  if (path.startsWith("/") || path.startsWith(".") || path.split("/").includes("..")) {
    return `user etc file ${quoted(path)} must be a local path`;
  }
  const managed = managedFiles.includes(path) || managedFolders.includes(path.split("/")[0] ?? "");
  return managed ? `user etc file ${quoted(path)} is managed by Talos` : undefined;
}

function nameFaults(document: Section, longest: number): readonly string[] {
  const name = textAt(document, "name");
  const faults = name === "" ? ["name is required"] : [];
  if (name.length < 1 || name.length > longest) faults.push(`name must be between 1 and ${longest} characters long`);
  if (!/^[a-zA-Z0-9_-]*$/.test(name)) {
    faults.push("name can only contain ASCII letters, digits, hyphens and underscores");
  }
  return faults;
}

function selectorFaults(document: Section): readonly string[] {
  const match = textAt(document, "provisioning.volumeSelector.match");
  if (match === "") return ["provisioning.volumeSelector.match is required"];
  const fault = expressionFault(match, "volume");
  return fault === undefined ? [] : [`provisioning.volumeSelector.match: ${fault}`];
}

function logicalVolumeFaults(document: Section): readonly string[] {
  const faults: string[] = [];
  const type = textAt(document, "type") || "linear";
  const [mirrors, stripes] = [valueAt(document, "mirrors"), valueAt(document, "stripes")];
  if (mirrors !== undefined && !["raid1", "raid10"].includes(type)) {
    faults.push(`mirrors is only valid for raid1/raid10, not ${type}`);
  } else if (typeof mirrors === "number" && mirrors < 1) faults.push("mirrors must be at least 1");
  if (stripes !== undefined && !["raid0", "raid10"].includes(type)) {
    faults.push(`stripes is only valid for raid0/raid10, not ${type}`);
  } else if (typeof stripes === "number" && stripes < 2) faults.push("stripes must be at least 2");
  if (textAt(document, "provisioning.volumeGroup") === "") faults.push("provisioning.volumeGroup is required");
  const [low, high] = [textAt(document, "provisioning.minSize"), textAt(document, "provisioning.maxSize")];
  if (high === "") faults.push("provisioning.maxSize is required");
  if (high.startsWith("-")) faults.push("provisioning.maxSize must not be negative");
  if (low !== "" && !high.endsWith("%") && (parseByteCount(low) ?? 0) > (parseByteCount(high) ?? 0)) {
    faults.push("provisioning.minSize must not exceed provisioning.maxSize");
  }
  return faults;
}

function linkNameFaults(field: string, name: string): readonly string[] {
  if (name === "") return [`${field} must be specified`];
  if (Buffer.byteLength(name) > 15) return [`${field} must not exceed 15 bytes`];
  if (name === "." || name === "..") return [`${field} must not be ${quoted(name)}`];
  if (/[/:]/.test(name)) return [`${field} must not contain '/' or ':'`];
  return /[\s\p{C}]/u.test(name) ? [`${field} must not contain whitespace or non-printable characters`] : [];
}
