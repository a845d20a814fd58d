// SPDX-License-Identifier: Apache-2.0
import { parseByteCount } from "../document/byte-count.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, valueAt } from "../document/value.ts";
import type { Checks } from "./documents.ts";
import { expressionFault } from "./expressions.ts";
import { quoted } from "./findings.ts";

const systemVolumes = ["STATE", "EPHEMERAL", "IMAGECACHE"];

/** Documents of volumes. */
export const storageChecks: Checks = {
  ExistingVolumeConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name is required");
    errors.push(...characterFaults(document));
    const match = textAt(document, "discovery.volumeSelector.match");
    const fault = expressionFault(match, "volume");
    if (match === "") errors.push("volume selector is required");
    else if (fault !== undefined) errors.push(`volume selector is invalid: ${fault}`);
  },
  ExternalVolumeConfig: (document, { errors }) => {
    errors.push(...nameFaults(document));
    const type = textAt(document, "filesystemType") || "none";
    if (type !== "virtiofs") errors.push(`invalid filesystem type: ${type}`);
    else if (sectionAt(document, "mount.virtiofs") === undefined) errors.push("virtiofs mount spec is required");
    else if (textAt(document, "mount.virtiofs.tag") === "") errors.push("virtiofs tag is required");
  },
  RawVolumeConfig: (document, { errors }) => {
    errors.push(...nameFaults(document), ...provisioningFaults(document, { required: true, sized: true }));
    errors.push(...encryptionFaults(document));
  },
  SwapVolumeConfig: (document, { errors }) => {
    errors.push(...nameFaults(document), ...provisioningFaults(document, { required: true, sized: true }));
    errors.push(...encryptionFaults(document));
  },
  UserVolumeConfig: (document, { errors }) => {
    errors.push(...nameFaults(document), ...userVolumeFaults(document));
  },
  VolumeConfig: (document, { errors }) => {
    const name = textAt(document, "name");
    if (!systemVolumes.includes(name)) {
      errors.push(`only [${systemVolumes.map(quoted).join(" ")}] volumes are supported`);
      return;
    }
    if (name === "STATE") {
      if (isSet(document, "provisioning")) {
        errors.push(`provisioning config is not allowed for the ${quoted(name)} volume`);
      }
      for (const key of sectionsAt(document, "encryption.keys")) {
        if (valueAt(key, "lockToState") === true) {
          errors.push(`state-locked key is not allowed for the ${quoted(name)} volume`);
        }
      }
    }
    errors.push(...provisioningFaults(document, { required: false, sized: true }), ...encryptionFaults(document));
  },
  ZswapConfig: (document, { errors }) => {
    const percent = valueAt(document, "maxPoolPercent");
    if (typeof percent === "number" && (percent < 0 || percent > 100)) {
      errors.push("maxPoolPercent must be between 0 and 100");
    }
  },
};

function isSet(document: Section, key: string): boolean {
  return (sectionAt(document, key)?.size ?? 0) > 0;
}

function nameFaults(document: Section): readonly string[] {
  const name = textAt(document, "name");
  const faults = name === "" ? ["name is required"] : [];
  // A partition label has 36 characters, of which a prefix takes two.
  if (name.length < 1 || name.length > 34) faults.push("name must be between 1 and 34 characters long");
  return [...faults, ...characterFaults(document)];
}

function characterFaults(document: Section): readonly string[] {
  return /^[a-zA-Z0-9-]*$/.test(textAt(document, "name"))
    ? []
    : ["name can only contain lowercase and uppercase ASCII letters, digits, and hyphens"];
}

function userVolumeFaults(document: Section): readonly string[] {
  const type = textAt(document, "volumeType") || "partition";
  if (type === "directory") {
    return ["provisioning", "encryption", "filesystem", "mount"]
      .filter((key) => isSet(document, key))
      .map((key) => `${key} spec is invalid for volumeType directory`);
  }
  if (type !== "partition" && type !== "disk") return [`unsupported volume type ${quoted(type)}`];
  return [
    ...provisioningFaults(document, { required: true, sized: type === "partition" }),
    ...filesystemFaults(document),
    ...encryptionFaults(document),
  ];
}

function filesystemFaults(document: Section): readonly string[] {
  const type = textAt(document, "filesystem.type") || "none";
  if (!["none", "xfs", "ext4"].includes(type)) return [`unsupported filesystem type: ${type}`];
  if (valueAt(document, "filesystem.projectQuotaSupport") === true && type === "ext4") {
    return ["project quota support is only available for xfs filesystem"];
  }
  return [];
}

function provisioningFaults(
  document: Section,
  rules: { readonly required: boolean; readonly sized: boolean },
): readonly string[] {
  const faults: string[] = [];
  const match = textAt(document, "provisioning.diskSelector.match");
  const fault = match === "" ? undefined : expressionFault(match, "disk");
  if (match === "" && rules.required) faults.push("disk selector is required");
  if (fault !== undefined) faults.push(`disk selector is invalid: ${fault}`);
  const [low, high] = [textAt(document, "provisioning.minSize"), textAt(document, "provisioning.maxSize")];
  if (!rules.sized) {
    if (low !== "" || high !== "" || valueAt(document, "provisioning.grow") !== undefined) {
      faults.push("min size, max size and grow are not supported");
    }
    return faults;
  }
  if (low !== "" && high !== "" && !high.endsWith("%") && !high.startsWith("-")) {
    if ((parseByteCount(low.replace(/^-/, "")) ?? 0) > (parseByteCount(high) ?? 0)) {
      faults.push("min size is greater than max size");
    }
  } else if (rules.required && low === "" && high === "") faults.push("min size or max size is required");
  if (low.startsWith("-")) faults.push("min size cannot be negative");
  return faults;
}

function encryptionFaults(document: Section): readonly string[] {
  const encryption = sectionAt(document, "encryption");
  if (encryption === undefined || encryption.size === 0) return [];
  const faults: string[] = [];
  const provider = textAt(encryption, "provider") || "none";
  // Talos takes an encryption section without provider and keys for no section at all.
  if (provider === "none" && listAt(encryption, "keys").length === 0) return [];
  if (provider !== "luks2") faults.push(`unsupported encryption provider: ${provider}`);
  const keys = sectionsAt(encryption, "keys");
  if (keys.length === 0) faults.push("encryption keys are required");
  const slots = new Set<number>();
  for (const key of keys) {
    const slot = Number(valueAt(key, "slot") ?? 0);
    if (slots.has(slot)) faults.push(`duplicate key slot ${slot}`);
    slots.add(slot);
    if (!["static", "nodeID", "kms", "tpm"].some((kind) => key.has(kind))) {
      faults.push(`at least one encryption key type must be specified for slot ${slot}`);
    }
    for (const register of listAt(key, "tpm.options.pcrs").map(Number)) {
      if (register < 0 || register > 23) faults.push(`TPM PCR ${register} is out of range (0-23)`);
    }
  }
  return faults;
}
