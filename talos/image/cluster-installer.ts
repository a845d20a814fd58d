// SPDX-License-Identifier: Apache-2.0
import type { TalosVersion } from "../version/index.ts";
import { defaultInstallImage, installerReference, type Platform } from "./references.ts";
import { chosenSchematic, type SchematicChoice, schematicId } from "./schematic.ts";

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
