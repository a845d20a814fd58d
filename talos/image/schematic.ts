// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { TalosError } from "../errors.ts";
import { filled, given } from "../given.ts";
import { nearestWord } from "../nearest-word.ts";
import {
  faultAt,
  parseYamlDocument,
  stringifyYaml,
  toPlainData,
  type YamlMapping,
  type YamlNode,
  type YamlValue,
} from "../yaml/index.ts";

/** What an image is made of beside Talos itself, in the image factory's own words. */
export interface Schematic {
  readonly owner?: string;
  readonly overlay?: {
    readonly image: string;
    readonly name: string;
    readonly options?: Readonly<Record<string, YamlValue>>;
  };
  readonly customization?: {
    readonly embeddedMachineConfiguration?: string;
    readonly extraKernelArgs?: readonly string[];
    readonly meta?: readonly { readonly key: number; readonly value: string }[];
    readonly systemExtensions?: { readonly officialExtensions?: readonly string[] };
    readonly bootloader?: string;
    readonly secureboot?: { readonly enrollKeys?: string; readonly includeWellKnownCertificates?: boolean };
    readonly diskImage?: { readonly sectorSize?: number };
  };
}

/** The part of a schematic that an environment chooses. */
export interface SchematicChoice {
  /** Official system extensions, such as `siderolabs/iscsi-tools`. */
  readonly extensions: readonly string[];
  /** Further arguments of the kernel. */
  readonly kernelArgs: readonly string[];
}

export function chosenSchematic({ extensions, kernelArgs }: SchematicChoice): Schematic {
  return { customization: { extraKernelArgs: kernelArgs, systemExtensions: { officialExtensions: extensions } } };
}

/** The text from which the factory computes the id. The order of lists matters; empty parts are left out. */
export function encodeSchematic(schematic: Schematic): string {
  const { owner, overlay, customization = {} } = schematic;
  const { systemExtensions, secureboot, diskImage } = customization;
  return stringifyYaml({
    owner: owner || undefined,
    overlay: overlay && { image: overlay.image, name: overlay.name, options: filled(overlay.options ?? {}) },
    customization: {
      embeddedMachineConfiguration: customization.embeddedMachineConfiguration || undefined,
      extraKernelArgs: filled(customization.extraKernelArgs ?? []),
      meta: filled((customization.meta ?? []).map(({ key, value }) => ({ key, value }))),
      systemExtensions: filledPart({ officialExtensions: filled(systemExtensions?.officialExtensions ?? []) }),
      bootloader: customization.bootloader || undefined,
      secureboot: filledPart({
        enrollKeys: secureboot?.enrollKeys || undefined,
        includeWellKnownCertificates: secureboot?.includeWellKnownCertificates || undefined,
      }),
      diskImage: filledPart({ sectorSize: diskImage?.sectorSize || undefined }),
    },
  });
}

const filledPart = (fields: Readonly<Record<string, YamlValue | undefined>>) => filled(given(fields));

/** The id under which the factory knows the schematic, computed without asking it. */
export function schematicId(schematic: Schematic): string {
  return createHash("sha256").update(encodeSchematic(schematic)).digest("hex");
}

/** The known keys, section by section; null stands for anything. */
const shape = {
  owner: null,
  overlay: { image: null, name: null, options: null },
  customization: {
    embeddedMachineConfiguration: null,
    extraKernelArgs: null,
    meta: null,
    systemExtensions: { officialExtensions: null },
    bootloader: null,
    secureboot: { enrollKeys: null, includeWellKnownCertificates: null },
    diskImage: { sectorSize: null },
  },
} as const;

type Shape = { readonly [key: string]: Shape | null };

/** Reads a schematic file. Throws for keys that the factory does not know, with the place and the nearest known key. */
export function parseSchematic(text: string, fileName: string): Schematic {
  const root = parseYamlDocument(text, fileName);
  if (root.kind === "scalar" && root.text === "") return {};
  if (root.kind !== "mapping") throw faultAt(fileName, root, "found no map, expected a schematic");
  checkKeys(root, shape, fileName, "");
  const data = toPlainData(root) as Schematic;
  const { extraKernelArgs, systemExtensions } = data.customization ?? {};
  for (const list of [extraKernelArgs, systemExtensions?.officialExtensions]) {
    if (list === undefined || (Array.isArray(list) && list.every((item) => typeof item === "string"))) continue;
    throw new TalosError("invalid-input", `${fileName}: extraKernelArgs and officialExtensions must be lists of text`);
  }
  return data;
}

function checkKeys(mapping: YamlMapping, known: Shape, fileName: string, path: string): void {
  for (const { key, value } of mapping.entries) {
    const inner: Shape | null | undefined = known[key.text];
    if (inner === undefined) {
      const near = nearestWord(key.text, Object.keys(known));
      const hint = near === undefined ? undefined : `The nearest known field is ${near}.`;
      throw faultAt(fileName, key, `unknown field ${path}${key.text}`, hint);
    }
    if (inner !== null && !isEmpty(value)) {
      if (value.kind !== "mapping") throw faultAt(fileName, value, `found no map under ${path}${key.text}`);
      checkKeys(value, inner, fileName, `${path}${key.text}.`);
    }
  }
}

function isEmpty(node: YamlNode): boolean {
  return node.kind === "scalar" && node.plain && node.text === "";
}
