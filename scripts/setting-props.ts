// SPDX-License-Identifier: Apache-2.0
import {
  addonSettings,
  bucketSettings,
  chartCredentialSettings,
  clusterSettings,
  defaultOf,
  fileRows,
  poolSettings,
  rolloutSettings,
  type Setting,
  type Settings,
  type SettingType,
} from "../model/settings/index.ts";

export const settingPropsFile = "constructs/cluster/setting-props.ts";

const sectionTypes: Readonly<Record<string, string>> = {
  schematic: "SchematicChoice",
  airGap: "AirGap",
  diskEncryption: "DiskEncryption",
  firewall: "Firewall",
  patches: "PatchesByMachine",
  patchList: "readonly string[]",
  values: "Readonly<Record<string, unknown>> | string",
};

/** Tables of fields that constructs export under a name of their own. */
const interfaceNames = new Map<Settings, string>([[chartCredentialSettings, "AddonCredentials"]]);

/** The interfaces as TypeScript, with a sentence and a default for every member. */
export function settingPropsSource(): string {
  // Constructs have a name of their own for the cluster, and it is required.
  const { name: _, ...cluster } = clusterSettings;
  return `// SPDX-License-Identifier: Apache-2.0
// Generated from model/settings by npm run generate:settings: change those, not this file.
import type { AirGap, DiskEncryption, Firewall, PatchesByMachine } from "../../model/settings/index.ts";
import type { SchematicChoice } from "../../talos/image/index.ts";

/** The settings of a cluster. */
export interface ClusterSettingProps {
${members(cluster)}
}

/** What a pool of machines has on every infrastructure. */
export interface PoolSettingProps {
${members(poolSettings)}
}

/** How careful changes of machines in use are. */
export interface RolloutProps {
${members(rolloutSettings)}
}

/** A Helm release. */
export interface AddonProps {
${members(addonSettings)}
}

/** Credentials of a chart repository or registry. Set one of \`passwordEnv\` and \`passwordFile\`. */
export interface AddonCredentials {
${members(chartCredentialSettings)}
}

/** A bucket of AWS or of an S3-compatible store. */
export interface BackupBucketProps {
${members(bucketSettings)}
}
`;
}

function members(settings: Settings, indent = "  "): string {
  return fileRows(settings)
    .map(([name, row]) => {
      const isRequired = row.required === true && row.otherwise === undefined && row.default === undefined;
      const type = typeOf(row.type, indent);
      return `${comment(row, isRequired, indent)}\n${indent}readonly ${name}${isRequired ? `: ${type}` : `?: ${union(type)}undefined`};`;
    })
    .join("\n");
}

function union(type: string): string {
  return type.startsWith("{") || !type.includes("\n") ? `${type} | ` : `(${type}) | `;
}

function comment(row: Setting, required: boolean, indent: string): string {
  const { description, type, default: standard, otherwise, fixed } = row;
  const unit = type.kind === "duration" ? " Milliseconds." : "";
  const text = `${description}${unit}${fixed ? " Can't be changed after creation." : ""}`;
  const words = standard === undefined ? `- ${otherwise}` : standardOf(defaultOf(row));
  const standardLine = required ? [] : [`@default ${words}`];
  const oneLine = `${indent}/** ${[text, ...standardLine].join(" ")} */`;
  const lines = [...wrap(text, 116 - indent.length), ...standardLine];
  return oneLine.length <= 120
    ? oneLine
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`).join("\n")}\n${indent} */`;
}

function standardOf(standard: unknown): string {
  const isEmpty = typeof standard === "object" && standard !== null && Object.keys(standard).length === 0;
  return isEmpty ? "- none" : typeof standard === "object" ? JSON.stringify(standard) : String(standard);
}

function wrap(text: string, width: number): readonly string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

function typeOf(type: SettingType, indent: string): string {
  if ("fields" in type) {
    const interfaceName = interfaceNames.get(type.fields);
    if (interfaceName !== undefined) return interfaceName;
    const inner = `${indent}  `;
    if (type.kind === "object") return `{\n${members(type.fields, inner)}\n${indent}}`;
    const oneOf = type.oneOf ?? [];
    if (oneOf.length === 0) return `readonly {\n${members(type.fields, inner)}\n${indent}}[]`;
    const variants = oneOf.map((key) => {
      const others = fileRows(type.fields).filter(([name]) => name === key || !oneOf.includes(name));
      const fields = others.map(([name, row]) => [name, name === key ? { ...row, required: true as const } : row]);
      return `{\n${members(Object.fromEntries(fields), inner)}\n${indent}}`;
    });
    return `readonly (${variants.join(" | ")})[]`;
  }
  switch (type.kind) {
    case "flag":
      return "boolean";
    case "count":
    case "duration":
      return "number";
    case "texts":
      return "readonly string[]";
    case "textMap":
      return "Readonly<Record<string, string>>";
    case "textsMap":
      return "Readonly<Record<string, readonly string[]>>";
    case "share":
      return "number | `${number}%`";
    case "cni":
      return '"flannel" | "none" | { readonly urls: readonly string[] }';
    case "section":
      return sectionTypes[type.section ?? ""] ?? "never";
    default:
      return type.choices === undefined ? "string" : type.choices.map((word) => JSON.stringify(word)).join(" | ");
  }
}
