// SPDX-License-Identifier: Apache-2.0

export { registerSchematic } from "./factory.ts";
export { fetchImage } from "./fetch-image.ts";
export { kubernetesImages } from "./kubernetes-images.ts";
export {
  type Architecture,
  type Asset,
  amazonImage,
  assetFile,
  assetUrl,
  clusterInstaller,
  defaultInstallImage,
  type ImageOptions,
  installerOf,
  installerReference,
  type Platform,
  releaseOfInstaller,
  shortImage,
} from "./references.ts";
export {
  chosenSchematic,
  encodeSchematic,
  parseSchematic,
  type Schematic,
  type SchematicChoice,
  schematicId,
} from "./schematic.ts";
