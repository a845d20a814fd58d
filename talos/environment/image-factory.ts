// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { stringify } from "yaml";
import type { TalosVersion } from "../version/index.ts";

const host = "factory.talos.dev";

export interface Schematic {
  readonly extensions: readonly string[];
  readonly kernelArgs: readonly string[];
}

/** Where the image will run; decides its kernel arguments and where it looks for its config. */
export type Platform = "metal" | "nocloud" | "aws";
export type Architecture = "amd64" | "arm64";

/** The image factory's id of a schematic: the hash of its canonical text, so nobody has to be asked for it. */
export function schematicId({ extensions, kernelArgs }: Schematic): string {
  const customization = {
    ...(kernelArgs.length === 0 ? {} : { extraKernelArgs: kernelArgs }),
    ...(extensions.length === 0 ? {} : { systemExtensions: { officialExtensions: extensions } }),
  };
  const text = stringify({ customization }, { indent: 4, lineWidth: 0 });
  return createHash("sha256").update(text).digest("hex");
}

/** URL of a disk image that needs no unpacking. */
export function diskImageUrl(schematic: Schematic, version: string, platform: Platform, arch: Architecture): string {
  return `https://${host}/image/${schematicId(schematic)}/${version}/${platform}-${arch}.qcow2`;
}

/** The installer that a release has without a schematic; the same as talos/config's, which is slow to load at synth. */
export function plainInstallerImage(version: TalosVersion): string {
  if (version.contract.factoryInstaller) return installerImage(nothingAdded, version.toString(), "metal");
  return `ghcr.io/siderolabs/installer:${version.toString()}`;
}

const nothingAdded: Schematic = { extensions: [], kernelArgs: [] };

/** The installer for upgrades. It has to be of the machine's platform, or the machine loses its network settings. */
export function installerImage(schematic: Schematic, version: string, platform: Platform): string {
  return `${host}/${platform}-installer/${schematicId(schematic)}:${version}`;
}
