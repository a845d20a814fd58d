// SPDX-License-Identifier: Apache-2.0
import { byteCountFault } from "../document/byte-count.ts";
import { readImageReference } from "../document/image-reference.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import type { Checks } from "./documents.ts";
import { quoted } from "./findings.ts";

/** Containers that Talos runs itself, from 1.14 on. */
export const containerChecks: Checks = {
  ContainerConfig: (document, { errors, warnings }) => {
    const [name, image] = [textAt(document, "name"), textAt(document, "image")];
    const reference = readImageReference(image);
    errors.push(...nameFaults(name));
    if (image === "") errors.push("image is required");
    else if (reference === undefined) {
      errors.push(`invalid image reference ${quoted(image)}: could not parse reference: ${image}`);
    } else if (!reference.pinned) {
      const risk = "is not digest-pinned, the running image may change on restart";
      warnings.push(`container ${quoted(name)}: image ${quoted(image)} ${risk}`);
    }
    for (const [index, variable] of textsAt(document, "environment").entries()) {
      if (!variable.includes("=")) {
        errors.push(`environment[${index}]: ${quoted(variable)} must be in KEY=value form`);
      }
    }
    errors.push(...mountsFaults(document), ...securityFaults(sectionAt(document, "security")));
    const mode = textAt(document, "network.mode");
    if (!["", "none", "host"].includes(mode)) {
      errors.push(`unsupported network mode ${quoted(mode)}, expected none or host`);
    }
    errors.push(
      ...limitFaults(sectionAt(document, "resources.limits")),
      ...dependencyFaults(sectionAt(document, "dependsOn"), name),
    );
    for (const id of ["uid", "gid"]) {
      const value = valueAt(document, `runAs.${id}`);
      if (typeof value === "number" && value < 0) errors.push(`runAs.${id} must be non-negative, got ${value}`);
    }
  },
};

function limitFaults(limits: Section | undefined): readonly string[] {
  const [memory, cpu] = [textAt(limits, "memory"), textAt(limits, "cpu")];
  const sizeFault = memory === "" ? undefined : byteCountFault(memory);
  const faults = sizeFault === undefined ? [] : [`limits.memory ${quoted(memory)} is not a valid size: ${sizeFault}`];
  if (cpu === "") return faults;
  const count = cpu.slice(0, -1);
  if (!cpu.endsWith("m")) faults.push(`limits.cpu ${quoted(cpu)} must be expressed in millicores, e.g. 1500m`);
  else if (!/^\d+$/.test(count)) {
    const reason = `strconv.ParseUint: parsing ${quoted(count)}: invalid syntax`;
    faults.push(`limits.cpu ${quoted(cpu)} is not a valid millicore quantity: ${reason}`);
  } else if (Number(count) === 0) faults.push(`limits.cpu ${quoted(cpu)} must be greater than zero`);
  return faults;
}

function nameFaults(name: string): readonly string[] {
  if (name === "") return ["name is required"];
  if (name.length > 63) return [`name ${quoted(name)} must be 63 characters or fewer`];
  return /^[a-z0-9-]+$/.test(name)
    ? []
    : [`name ${quoted(name)}: name can only contain lowercase ASCII letters, digits and hyphens`];
}

const mountKinds = ["userVolume", "tmpfs", "hostPath"] as const;
const mountOptions = ["ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind"];

function mountsFaults(document: Section): readonly string[] {
  const taken = new Set<string>();
  return sectionsAt(document, "mounts").flatMap((mount, index) => {
    const kinds = mountKinds.filter((kind) => mount.has(kind));
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) {
      return [`mounts[${index}]: exactly one of userVolume, tmpfs or hostPath must be set`];
    }
    const faults = mountFaults(kind, sectionAt(mount, kind) ?? new Map());
    if (faults.length > 0) return [`mounts[${index}]: ${faults.join("\n")}`];
    const destination = textAt(mount, `${kind}.destination`);
    if (taken.has(destination)) return [`mounts[${index}]: duplicate destination ${quoted(destination)}`];
    taken.add(destination);
    return [];
  });
}

function mountFaults(kind: (typeof mountKinds)[number], mount: Section): readonly string[] {
  const options = textsAt(mount, "options");
  const unsupported = options.filter((option) => !mountOptions.includes(option));
  const faults: string[] = [];
  if (kind === "userVolume" && textAt(mount, "name") === "") faults.push("userVolume.name is required");
  if (kind === "hostPath") faults.push(...pathFaults("hostPath.source", textAt(mount, "source")));
  faults.push(...pathFaults(`${kind}.destination`, textAt(mount, "destination")));
  faults.push(...unsupported.map((option) => `unsupported mount option ${quoted(option)}`));
  if (options.includes("ro") && options.includes("rw")) faults.push("mount options ro and rw are mutually exclusive");
  return faults;
}

function pathFaults(what: string, path: string): readonly string[] {
  if (path === "") return [`${what} is required`];
  return path.startsWith("/") ? [] : [`${what} ${quoted(path)} must be an absolute path`];
}

function securityFaults(security: Section | undefined): readonly string[] {
  const faults: string[] = [];
  const profile = textAt(security, "profile");
  if (!["", "restricted", "privileged"].includes(profile)) {
    faults.push(`unsupported security profile ${quoted(profile)}, expected restricted or privileged`);
  }
  const [add, drop] = [textsAt(security, "capabilities.add"), textsAt(security, "capabilities.drop")];
  for (const name of add) {
    if (name === "ALL") faults.push("capabilities.add does not accept ALL, use profile: privileged instead");
    else faults.push(...capabilityFaults("capabilities.add", name));
  }
  for (const name of drop) if (name !== "ALL") faults.push(...capabilityFaults("capabilities.drop", name));
  for (const name of add) {
    if (drop.includes(name)) faults.push(`capability ${quoted(name)} appears in both add and drop`);
  }
  return faults;
}

function capabilityFaults(field: string, name: string): readonly string[] {
  if (name === "") return [`${field}: capability name must not be empty`];
  const subject = `${field}: capability ${quoted(name)}`;
  if (name.startsWith("CAP_")) return [`${subject} must be given without the CAP_ prefix`];
  if (name.toUpperCase() !== name) return [`${subject} must be upper case`];
  return /^[A-Z_]+$/.test(name) ? [] : [`${subject} may only contain upper case letters and underscores`];
}

const networkConditions = ["addresses", "connectivity", "hostname", "etcfiles"];

function dependencyFaults(depends: Section | undefined, own: string): readonly string[] {
  return [
    ...textsAt(depends, "paths").flatMap((path) => pathFaults("dependsOn.paths entry", path)),
    ...textsAt(depends, "networks")
      .filter((condition) => !networkConditions.includes(condition))
      .map((condition) => `unsupported dependsOn.networks condition ${quoted(condition)}`),
    ...textsAt(depends, "containers").flatMap((name) => {
      if (name === "") return ["dependsOn.containers entry must not be empty"];
      return name === own ? [`container ${quoted(own)} cannot depend on itself`] : [];
    }),
  ];
}
