// SPDX-License-Identifier: Apache-2.0
import { byteCountFault } from "../document/byte-count.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { about, type Checks, type Faults, quoted } from "./findings.ts";

/** Containers that Talos runs itself, from 1.14 on. */
export const containerChecks: Checks = {
  *ContainerConfig(document) {
    const [name, image] = [textAt(document, "name"), textAt(document, "image")];
    const reference = readImageReference(image);
    yield* nameFaults(name);
    if (image === "") yield "image is required";
    else if (reference === undefined)
      yield `invalid image reference ${quoted(image)}: could not parse reference: ${image}`;
    else if (!reference.pinned) {
      const risk = "is not digest-pinned, the running image may change on restart";
      yield { warning: `container ${quoted(name)}: image ${quoted(image)} ${risk}` };
    }
    for (const [index, variable] of textsAt(document, "environment").entries())
      if (!variable.includes("=")) yield `environment[${index}]: ${quoted(variable)} must be in KEY=value form`;
    yield* mountsFaults(document);
    yield* securityFaults(sectionAt(document, "security"));
    const mode = textAt(document, "network.mode");
    if (!["", "none", "host"].includes(mode)) yield `unsupported network mode ${quoted(mode)}, expected none or host`;
    yield* limitFaults(sectionAt(document, "resources.limits"));
    yield* dependencyFaults(sectionAt(document, "dependsOn"), name);
    for (const id of ["uid", "gid"]) {
      const value = valueAt(document, `runAs.${id}`);
      if (typeof value === "number" && value < 0) yield `runAs.${id} must be non-negative, got ${value}`;
    }
  },
};

function* limitFaults(limits: Section | undefined): Faults {
  const [memory, cpu] = [textAt(limits, "memory"), textAt(limits, "cpu")];
  if (memory !== "") yield* about(`limits.memory ${quoted(memory)} is not a valid size`, byteCountFault(memory));
  const count = cpu.slice(0, -1);
  if (cpu === "") return;
  if (!cpu.endsWith("m")) yield `limits.cpu ${quoted(cpu)} must be expressed in millicores, e.g. 1500m`;
  else if (!/^\d+$/.test(count)) {
    const reason = `strconv.ParseUint: parsing ${quoted(count)}: invalid syntax`;
    yield `limits.cpu ${quoted(cpu)} is not a valid millicore quantity: ${reason}`;
  } else if (Number(count) === 0) yield `limits.cpu ${quoted(cpu)} must be greater than zero`;
}

function* nameFaults(name: string): Faults {
  if (name === "") yield "name is required";
  else if (name.length > 63) yield `name ${quoted(name)} must be 63 characters or fewer`;
  else if (!/^[a-z0-9-]+$/.test(name))
    yield `name ${quoted(name)}: name can only contain lowercase ASCII letters, digits and hyphens`;
}

const mountKinds = ["userVolume", "tmpfs", "hostPath"] as const;
const mountOptions = ["ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind"];

function* mountsFaults(document: Section): Faults {
  const taken = new Set<string>();
  for (const [index, mount] of sectionsAt(document, "mounts").entries()) {
    const [kind, ...others] = mountKinds.filter((one) => mount.has(one));
    if (kind === undefined || others.length > 0) {
      yield `mounts[${index}]: exactly one of userVolume, tmpfs or hostPath must be set`;
      continue;
    }
    const faults = [...mountFaults(kind, sectionAt(mount, kind))];
    const destination = textAt(mount, `${kind}.destination`);
    if (faults.length > 0) yield `mounts[${index}]: ${faults.join("\n")}`;
    else if (taken.has(destination)) yield `mounts[${index}]: duplicate destination ${quoted(destination)}`;
    else taken.add(destination);
  }
}

function* mountFaults(kind: (typeof mountKinds)[number], mount: Section | undefined): Faults {
  const options = textsAt(mount, "options");
  if (kind === "userVolume" && textAt(mount, "name") === "") yield "userVolume.name is required";
  if (kind === "hostPath") yield* pathFaults("hostPath.source", textAt(mount, "source"));
  yield* pathFaults(`${kind}.destination`, textAt(mount, "destination"));
  for (const option of options) if (!mountOptions.includes(option)) yield `unsupported mount option ${quoted(option)}`;
  if (options.includes("ro") && options.includes("rw")) yield "mount options ro and rw are mutually exclusive";
}

function* pathFaults(what: string, path: string): Faults {
  if (path === "") yield `${what} is required`;
  else if (!path.startsWith("/")) yield `${what} ${quoted(path)} must be an absolute path`;
}

function* securityFaults(security: Section | undefined): Faults {
  const profile = textAt(security, "profile");
  if (!["", "restricted", "privileged"].includes(profile))
    yield `unsupported security profile ${quoted(profile)}, expected restricted or privileged`;
  const [add, drop] = [textsAt(security, "capabilities.add"), textsAt(security, "capabilities.drop")];
  for (const name of add) {
    if (name === "ALL") yield "capabilities.add does not accept ALL, use profile: privileged instead";
    else yield* capabilityFaults("capabilities.add", name);
  }
  for (const name of drop) if (name !== "ALL") yield* capabilityFaults("capabilities.drop", name);
  for (const name of add) if (drop.includes(name)) yield `capability ${quoted(name)} appears in both add and drop`;
}

function* capabilityFaults(field: string, name: string): Faults {
  const subject = `${field}: capability ${quoted(name)}`;
  if (name === "") yield `${field}: capability name must not be empty`;
  else if (name.startsWith("CAP_")) yield `${subject} must be given without the CAP_ prefix`;
  else if (name.toUpperCase() !== name) yield `${subject} must be upper case`;
  else if (!/^[A-Z_]+$/.test(name)) yield `${subject} may only contain upper case letters and underscores`;
}

const networkConditions = ["addresses", "connectivity", "hostname", "etcfiles"];

function* dependencyFaults(depends: Section | undefined, own: string): Faults {
  for (const path of textsAt(depends, "paths")) yield* pathFaults("dependsOn.paths entry", path);
  for (const condition of textsAt(depends, "networks"))
    if (!networkConditions.includes(condition)) yield `unsupported dependsOn.networks condition ${quoted(condition)}`;
  for (const name of textsAt(depends, "containers")) {
    if (name === "") yield "dependsOn.containers entry must not be empty";
    else if (name === own) yield `container ${quoted(own)} cannot depend on itself`;
  }
}

/** Whether a text names a container image, and whether it names exactly one by its digest. */
function readImageReference(text: string): { readonly pinned: boolean } | undefined {
  const [base = "", digest, ...more] = text.split("@");
  if (more.length > 0) return undefined;
  if (digest !== undefined) {
    const repository = splitTag(base)?.repository ?? base;
    return /^sha256:[0-9a-f]{64}$/.test(digest) && isRepository(repository) ? { pinned: true } : undefined;
  }
  const tagged = splitTag(base);
  return tagged !== undefined && isRepository(tagged.repository) ? { pinned: false } : undefined;
}

/** A colon before a slash belongs to the port of the registry. */
function splitTag(text: string): { readonly repository: string } | undefined {
  const colon = text.lastIndexOf(":");
  if (colon < 0 || text.slice(colon).includes("/")) return { repository: text };
  return /^[A-Za-z0-9_.-]{1,128}$/.test(text.slice(colon + 1)) ? { repository: text.slice(0, colon) } : undefined;
}

function isRepository(text: string): boolean {
  const slash = text.indexOf("/");
  const first = text.slice(0, Math.max(slash, 0));
  const registry = /[.:]/.test(first) || first === "localhost";
  return /^[a-z0-9_./-]{2,255}$/.test(registry ? text.slice(slash + 1) : text);
}
