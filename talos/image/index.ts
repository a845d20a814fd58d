// SPDX-License-Identifier: Apache-2.0

export { type FactoryOptions, registerSchematic } from "./factory.ts";
export { type FetchedImage, type FetchOptions, fetchImage } from "./fetch-image.ts";
export { type ImageVersions, kubernetesImages } from "./kubernetes-images.ts";
export {
  type Architecture,
  type Asset,
  amazonImage,
  assetFile,
  assetUrl,
  clusterInstaller,
  defaultInstallImage,
  type ImageOptions,
  installerReference,
  type Platform,
} from "./references.ts";
export {
  chosenSchematic,
  encodeSchematic,
  parseSchematic,
  type Schematic,
  type SchematicChoice,
  schematicId,
} from "./schematic.ts";
