// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { parseYaml, toPlainData } from "../talos/yaml/index.ts";
import { createIso, hashIso } from "./iso.ts";
import { fillTemplate, type TemplateValue } from "./yaml-template.ts";

/** What a machine is told before it has a config. Also what templates may use. */
export interface NoCloudMachine {
  readonly hostname: string;
  /** Identity of the machine; a changed one makes cloud-init tools start over. Talos only reports it. */
  readonly instanceId: string;
  readonly mac: string;
  /** With the prefix length, as 10.0.0.70/24. */
  readonly address: string;
  readonly gateway: string;
  readonly nameservers: readonly string[];
}

/** Handlebars templates of a NoCloud seed. */
export interface NoCloudTemplates {
  /** Template of meta-data. @default - instance-id and local-hostname */
  readonly metaData?: string | undefined;
  /** Template of network-config. @default - version 2, one link found by its MAC, a static address */
  readonly networkConfig?: string | undefined;
  /** Template of user-data. @default - no user-data: the machine waits in maintenance mode for its config */
  readonly userData?: string | undefined;
}

/** The files of a NoCloud seed, by the names that they have in it. */
export interface NoCloudFiles {
  readonly "meta-data": string;
  readonly "network-config": string;
  readonly "user-data"?: string;
}

/** Renders the files of a machine's NoCloud seed and checks that Talos can read them. */
export function renderNoCloud(machine: NoCloudMachine, templates: NoCloudTemplates = {}): NoCloudFiles {
  const values = { ...machine } as unknown as { readonly [key: string]: TemplateValue };
  const metaData = fillTemplate(templates.metaData ?? defaultTemplates.metaData, "meta-data", values);
  const networkConfig = fillTemplate(
    templates.networkConfig ?? defaultTemplates.networkConfig,
    "network-config",
    values,
  );
  // Of our own templates the tests show that no value whatever breaks them; for a hundred machines parsing takes its time.
  if (templates.metaData !== undefined) checkMetaData(metaData);
  if (templates.networkConfig !== undefined) checkNetworkConfig(networkConfig);
  if (templates.userData === undefined) return { "meta-data": metaData, "network-config": networkConfig };
  const userData = fillTemplate(templates.userData, "user-data", values);
  checkUserData(userData);
  return { "meta-data": metaData, "network-config": networkConfig, "user-data": userData };
}

type Data = { readonly [key: string]: unknown };
export const isMapping = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readMapping(text: string, file: string): Data {
  const [first, ...others] = parseYaml(text, file).map(toPlainData);
  if (isMapping(first) && others.length === 0) return first;
  throw new TalosError(
    "invalid-input",
    `${file}: found ${others.length + 1} documents or no mapping, expected one mapping`,
    { hint: "Correct the template." },
  );
}

function checkMetaData(text: string): void {
  const data = readMapping(text, "meta-data");
  for (const key of ["instance-id", "local-hostname"])
    if (typeof data[key] !== "string")
      throw new TalosError("invalid-input", `meta-data: found no text at ${key}`, { hint: "Add it to the template." });
}

/** Talos reads version 1 and 2, with or without a `network` key around it. */
export function checkNetworkConfig(text: string): void {
  const outer = readMapping(text, "network-config");
  const data = isMapping(outer.network) ? outer.network : outer;
  const fault = (message: string) =>
    new TalosError("invalid-input", `network-config: ${message}`, { hint: "Correct the template." });
  if (data.version === 1) {
    if (!Array.isArray(data.config)) throw fault("found no list at config, which version 1 has");
    const known = ["physical", "bond", "vlan", "nameserver"];
    for (const entry of data.config as unknown[])
      if (!isMapping(entry) || !known.includes(String(entry.type)))
        throw fault(
          `found a config entry of type ${isMapping(entry) ? String(entry.type) : "?"}, expected ${known.join(", ")}`,
        );
  } else if (data.version === 2) {
    const sections = ["ethernets", "bonds", "vlans"].filter((key) => isMapping(data[key]));
    if (sections.length === 0) throw fault("found none of ethernets, bonds and vlans, which version 2 has");
  } else throw fault(`found version ${String(data.version)}, expected 1 or 2`);
}

/** Talos passes over what begins with `#cloud-config`, and the machine would wait for ever. */
function checkUserData(text: string): void {
  const [firstLine = ""] = text.split("\n");
  if (/^#cloud-config/.test(firstLine))
    throw new TalosError("invalid-input", "user-data: found #cloud-config, which Talos ignores", {
      hint: "Write a Talos machine config, or #include and a URL.",
    });
  if (!/^#include/.test(firstLine)) parseYaml(text, "user-data");
}

/** The label by which Talos finds the volume. */
export const noCloudLabel = "cidata";

/** The NoCloud seed as an ISO image. The same files always give the same bytes. */
export function createNoCloudIso(files: NoCloudFiles): Uint8Array {
  return createIso(noCloudLabel, isoFiles(files));
}

/** Lower-case hex SHA-256 of the seed's image. */
export function hashNoCloudIso(files: NoCloudFiles): string {
  return hashIso(noCloudLabel, isoFiles(files));
}

function isoFiles(files: NoCloudFiles) {
  const encoder = new TextEncoder();
  return Object.entries(files).map(([name, text]) => ({ name, content: encoder.encode(text as string) }));
}

/** The templates that are used where an environment brings none of its own. `{{x}}` is always a whole YAML value. */
export const defaultTemplates = {
  metaData: `instance-id: {{instanceId}}
local-hostname: {{hostname}}
`,
  networkConfig: `version: 2
ethernets:
  eth0:
    match:
      macaddress: {{mac}}
    dhcp4: false
    addresses:
      - {{address}}
    routes:
      - to: default
        via: {{gateway}}
    nameservers:
      addresses: {{nameservers}}
`,
} as const;
