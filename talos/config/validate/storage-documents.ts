// SPDX-License-Identifier: Apache-2.0
import { parseByteCount } from "../document/byte-count.ts";
import { parseGoDuration } from "../document/go-duration.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, valueAt } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";
import { expressionFault, selectorFaults } from "./expressions.ts";
import { about, type Checks, every, type Faults, type Findings, isFilled, quoted, unset } from "./findings.ts";

/** Folders of EPHEMERAL unless they have a partition of their own. */
const promotedVolumes = ["ETCD", "CRI", "KUBELET", "LOG"];
const wholeVolume = every(nameFaults, (document) => provisioningFaults(document, allRules), encryptionFaults);

/** Documents of volumes and filesystems. */
export const storageChecks: Checks = {
  *ExistingVolumeConfig(document) {
    yield* unset(document, { name: "name is required" });
    yield* characterFaults(document);
    yield* selectorFaults(textAt(document, "discovery.volumeSelector.match"), "volume", "volume selector");
    yield* intervalFindings(document);
  },
  *ExternalVolumeConfig(document) {
    yield* nameFaults(document);
    const type = textAt(document, "filesystemType") || "none";
    if (type !== "virtiofs") yield `invalid filesystem type: ${type}`;
    else if (sectionAt(document, "mount.virtiofs") === undefined) yield "virtiofs mount spec is required";
    else if (textAt(document, "mount.virtiofs.tag") === "") yield "virtiofs tag is required";
  },
  *FilesystemScrubConfig(document) {
    const interval = parseGoDuration(textAt(document, "interval")) ?? 0n;
    if (interval !== 0n && interval < leastScrubInterval) yield "scrub interval: minimum value is 10s";
  },
  *FilesystemTrimConfig(document) {
    if (textAt(document, "interval").startsWith("-")) yield "interval cannot be negative";
  },
  *LVMLogicalVolumeConfig(document) {
    yield* groupNameFaults(document, 63);
    const type = textAt(document, "type") || "linear";
    for (const [key, raid, least] of [
      ["mirrors", "raid1", 1],
      ["stripes", "raid0", 2],
    ] as const) {
      const value = valueAt(document, key);
      if (value !== undefined && ![raid, "raid10"].includes(type))
        yield `${key} is only valid for ${raid}/raid10, not ${type}`;
      else if (typeof value === "number" && value < least) yield `${key} must be at least ${least}`;
    }
    if (textAt(document, "provisioning.volumeGroup") === "") yield "provisioning.volumeGroup is required";
    const [low, high] = [textAt(document, "provisioning.minSize"), textAt(document, "provisioning.maxSize")];
    if (high === "") yield "provisioning.maxSize is required";
    if (high.startsWith("-")) yield "provisioning.maxSize must not be negative";
    if (low !== "" && !high.endsWith("%") && (parseByteCount(low) ?? 0) > (parseByteCount(high) ?? 0))
      yield "provisioning.minSize must not exceed provisioning.maxSize";
  },
  LVMVolumeGroupConfig: every((document) => groupNameFaults(document, 63), memberFaults),
  RAIDArrayConfig: every((document) => groupNameFaults(document, 32), memberFaults),
  RawVolumeConfig: wholeVolume,
  SwapVolumeConfig: wholeVolume,
  UserVolumeConfig: every(nameFaults, userVolumeFaults, intervalFindings),
  *VolumeConfig(document, rules) {
    const name = textAt(document, "name");
    if (!rules.systemVolumes.includes(name)) {
      yield { error: `only [${rules.systemVolumes.map(quoted).join(" ")}] volumes are supported`, path: "name" };
      return;
    }
    yield* stateFindings(document, name);
    yield* mountFindings(document, name);
    yield* provisioningFaults(document, { required: false, sized: true });
    yield* encryptionFaults(document);
    yield* intervalFindings(document);
  },
  *ZswapConfig(document) {
    const percent = valueAt(document, "maxPoolPercent");
    if (typeof percent === "number" && (percent < 0 || percent > 100)) yield "maxPoolPercent must be between 0 and 100";
  },
};

function* stateFindings(document: Section, name: string): Findings {
  if (name !== "STATE") return;
  if (isFilled(document, "provisioning"))
    yield { error: `provisioning config is not allowed for the ${quoted(name)} volume`, path: "provisioning" };
  for (const key of sectionsAt(document, "encryption.keys"))
    if (valueAt(key, "lockToState") === true)
      yield { error: `state-locked key is not allowed for the ${quoted(name)} volume`, path: "encryption.keys" };
}

function* mountFindings(document: Section, name: string): Findings {
  const refused = (section: string) => ({
    error: `${section} config is not allowed for the ${quoted(name)} volume`,
    path: section,
  });
  const mounted = isFilled(document, "mount");
  if (mounted && (name === "STATE" || name === "IMAGECACHE")) yield refused("mount");
  if (name === "IMAGECACHE" && isFilled(document, "filesystem")) yield refused("filesystem");
  if (mounted && promotedVolumes.includes(name) && !isFilled(document, "provisioning")) {
    const when = "is only supported when it is provisioned onto a dedicated partition";
    yield { error: `mount config for the ${quoted(name)} volume ${when}`, path: "mount" };
  }
}

/** How often a volume is trimmed and scrubbed. */
function* intervalFindings(document: Section): Findings {
  const scrub = parseGoDuration(textAt(document, "scrub.interval")) ?? 0n;
  if (textAt(document, "trim.interval").startsWith("-"))
    yield { error: "trim interval cannot be negative", path: "trim.interval" };
  if (scrub !== 0n && scrub < leastScrubInterval)
    yield { error: "scrub interval: minimum value is 10s", path: "scrub.interval" };
}

const leastScrubInterval = 10_000_000_000n;

function* nameFaults(document: Section): Faults {
  // A partition label has 36 characters, of which a prefix takes two.
  yield* lengthFaults(document, 34);
  yield* characterFaults(document);
}

function* groupNameFaults(document: Section, longest: number): Faults {
  yield* lengthFaults(document, longest);
  if (!/^[a-zA-Z0-9_-]*$/.test(textAt(document, "name")))
    yield "name can only contain ASCII letters, digits, hyphens and underscores";
}

function* lengthFaults(document: Section, longest: number): Faults {
  const { length } = textAt(document, "name");
  if (length === 0) yield "name is required";
  if (length < 1 || length > longest) yield `name must be between 1 and ${longest} characters long`;
}

function* characterFaults(document: Section): Faults {
  if (!/^[a-zA-Z0-9-]*$/.test(textAt(document, "name")))
    yield "name can only contain lowercase and uppercase ASCII letters, digits, and hyphens";
}

/** Which disks or volumes a group or an array is made of. */
function memberFaults(document: Section): Faults {
  const path = "provisioning.volumeSelector.match";
  return selectorFaults(textAt(document, path), "volume", path, path);
}

function* userVolumeFaults(document: Section, rules: ConfigRules): Faults {
  const type = textAt(document, "volumeType") || "partition";
  if (type === "directory") {
    const sections = ["provisioning", "encryption", "filesystem"];
    for (const key of rules.mountsDirectories ? sections : [...sections, "mount"])
      if (isFilled(document, key)) yield `${key} spec is invalid for volumeType directory`;
    if (rules.mountsDirectories && valueAt(document, "mount.disableAccessTime") !== undefined)
      yield "mount.disableAccessTime is invalid for volumeType directory";
  } else if (type !== "partition" && type !== "disk") yield `unsupported volume type ${quoted(type)}`;
  else {
    yield* provisioningFaults(document, { required: true, sized: type === "partition" });
    yield* filesystemFaults(document, rules);
    yield* encryptionFaults(document);
  }
}

function* filesystemFaults(document: Section, rules: ConfigRules): Faults {
  const type = textAt(document, "filesystem.type") || "none";
  if (!rules.filesystems.includes(type)) yield `unsupported filesystem type: ${type}`;
  else if (valueAt(document, "filesystem.projectQuotaSupport") === true && !["none", "xfs"].includes(type))
    yield "project quota support is only available for xfs filesystem";
  else if (sectionAt(document, "filesystem.xfs") !== undefined && !["none", "xfs"].includes(type))
    yield "xfs options are only available for xfs filesystem";
}

interface ProvisioningRules {
  readonly required: boolean;
  readonly sized: boolean;
}

const allRules: ProvisioningRules = { required: true, sized: true };

function* provisioningFaults(document: Section, rules: ProvisioningRules): Faults {
  const match = textAt(document, "provisioning.diskSelector.match");
  if (match !== "") yield* about("disk selector is invalid", expressionFault(match, "disk"));
  else if (rules.required) yield "disk selector is required";
  const [low, high] = [textAt(document, "provisioning.minSize"), textAt(document, "provisioning.maxSize")];
  if (!rules.sized) {
    if (low !== "" || high !== "" || valueAt(document, "provisioning.grow") !== undefined)
      yield "min size, max size and grow are not supported";
    return;
  }
  if (low !== "" && high !== "" && !high.endsWith("%") && !high.startsWith("-")) {
    if ((parseByteCount(low.replace(/^-/, "")) ?? 0) > (parseByteCount(high) ?? 0))
      yield "min size is greater than max size";
  } else if (rules.required && low === "" && high === "") yield "min size or max size is required";
  if (low.startsWith("-")) yield "min size cannot be negative";
}

function* encryptionFaults(document: Section): Faults {
  const encryption = sectionAt(document, "encryption");
  const provider = textAt(encryption, "provider") || "none";
  // Talos takes an encryption section without provider and keys for no section at all.
  if (provider === "none" && listAt(encryption, "keys").length === 0) return;
  if (provider !== "luks2") yield `unsupported encryption provider: ${provider}`;
  const keys = sectionsAt(encryption, "keys");
  if (keys.length === 0) yield "encryption keys are required";
  const slots = new Set<number>();
  for (const key of keys) {
    const slot = Number(valueAt(key, "slot") ?? 0);
    if (slots.has(slot)) yield `duplicate key slot ${slot}`;
    slots.add(slot);
    if (!["static", "nodeID", "kms", "tpm"].some((kind) => key.has(kind)))
      yield `at least one encryption key type must be specified for slot ${slot}`;
    for (const register of listAt(key, "tpm.options.pcrs").map(Number))
      if (register < 0 || register > 23) yield `TPM PCR ${register} is out of range (0-23)`;
  }
}
