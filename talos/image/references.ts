// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import type { TalosVersion } from "../version/index.ts";
import { chosenSchematic, type SchematicChoice, schematicId } from "./schematic.ts";

/** Talos platform: where an image gets its first config from. */
export type Platform = "metal" | "nocloud" | "aws";
/** Processor architecture of a machine. */
export type Architecture = "amd64" | "arm64";
/** A disk image (packed, or as qcow2), a bootable ISO, or one of the parts that a machine boots over the network. */
export type Asset = "disk" | "qcow2" | "iso" | "kernel" | "initramfs" | "cmdline" | "uki" | "pxe";

export const factoryHost = "factory.talos.dev";

export interface ImageOptions {
  readonly schematic: string;
  readonly version: TalosVersion;
  readonly platform: Platform;
  /** @default amd64 */
  readonly architecture?: Architecture;
  /** @default false */
  readonly secureBoot?: boolean;
  /** Base URL of the image factory. @default the public one */
  readonly factory?: string | undefined;
}

/** The image that installs and upgrades machines of the platform. */
export function installerReference(options: Omit<ImageOptions, "architecture">): string {
  const host = (options.factory ?? factoryHost).replace(/^https?:\/\//, "").replace(/\/+$/, "");
  const name = options.version.contract.platformInstaller ? `${options.platform}-installer` : "installer";
  const variant = options.secureBoot ? "-secureboot" : "";
  return `${host}/${name}${variant}/${checkedId(options.schematic)}:${options.version.toString()}`;
}

/** Published up to Talos 1.13. */
const plainInstaller = "ghcr.io/siderolabs/installer";

/** The installer of a release without extensions or kernel arguments. */
export function defaultInstallImage(version: TalosVersion): string {
  if (!version.contract.factoryInstaller) return `${plainInstaller}:${version.toString()}`;
  return installerReference({ schematic: schematicId({}), version, platform: "metal" });
}

const tagged = /^(.+):(v\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)$/;

/** The Talos release that an installer's tag names; undefined for other tags, and for an image by its digest. */
export function releaseOfInstaller(image: string): string | undefined {
  return tagged.exec(image)?.[2];
}

/** An image as it fits into a sentence: of a schematic's 64 digits only the first four. */
export function shortImage(image: string): string {
  return image.replace(/\/([0-9a-f]{4})[0-9a-f]{60}(?=[:@]|$)/, "/$1…");
}

/** The same installer of another release. Undefined for one whose tag is not a Talos version. */
export function installerOf(image: string, version: TalosVersion): string | undefined {
  const name = tagged.exec(image)?.[1];
  if (name === undefined) return undefined;
  return name === plainInstaller ? defaultInstallImage(version) : `${name}:${version.toString()}`;
}

/** How disk images are packed: the platforms differ. */
const diskFormats: Record<Platform, string> = { metal: "raw.zst", nocloud: "raw.xz", aws: "raw.xz" };

/** The name of an asset as the factory serves it. */
export function assetFile(asset: Exclude<Asset, "pxe">, options: ImageOptions): string {
  const { platform, architecture = "amd64" } = options;
  const variant = options.secureBoot ? `${architecture}-secureboot` : architecture;
  switch (asset) {
    case "disk":
      return `${platform}-${variant}.${diskFormats[platform]}`;
    case "qcow2":
      return `${platform}-${variant}.qcow2`;
    case "iso":
      return `${platform}-${variant}.iso`;
    case "kernel":
      return `kernel-${architecture}`;
    case "initramfs":
      return `initramfs-${architecture}.xz`;
    case "cmdline":
      return `cmdline-${platform}-${architecture}`;
    case "uki":
      return `${platform}-${variant}-uki.efi`;
  }
}

/** Where the factory serves an asset. */
export function assetUrl(asset: Asset, options: ImageOptions): string {
  const base = (options.factory ?? `https://${factoryHost}`).replace(/\/+$/, "");
  const path = `${checkedId(options.schematic)}/${options.version.toString()}`;
  const { platform, architecture = "amd64" } = options;
  const variant = options.secureBoot ? "-secureboot" : "";
  if (asset === "pxe") return `${base}/pxe/${path}/${platform}-${architecture}${variant}`;
  return `${base}/image/${path}/${assetFile(asset, options)}`;
}

function checkedId(id: string): string {
  if (/^[0-9a-f]{64}$/.test(id)) return id;
  throw new TalosError("invalid-input", `${JSON.stringify(id)} is not a schematic id`, {
    hint: "It has 64 hexadecimal digits; compute one with: talosmith image schematic <file>",
  });
}

/** The official machine image of a release in a region of AWS, without extensions. */
export function amazonImage(
  version: TalosVersion,
  region: string,
  architecture: Architecture = "amd64",
): { readonly owner: string; readonly name: string } {
  return { owner: "540036508848", name: `talos-${version.toString()}-${region}-${architecture}` };
}

/** The installer of machines: the release's own where nothing is added to it, else the image factory's. */
export function clusterInstaller(
  schematic: SchematicChoice,
  version: TalosVersion,
  platform: Platform,
  factory?: string,
): string {
  const customized = schematic.extensions.length + schematic.kernelArgs.length > 0;
  if (platform === "metal" && !customized && factory === undefined) return defaultInstallImage(version);
  return installerReference({ schematic: schematicId(chosenSchematic(schematic)), version, platform, factory });
}
