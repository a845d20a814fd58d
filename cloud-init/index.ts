// SPDX-License-Identifier: Apache-2.0
export { createIso, type IsoFile } from "./iso.ts";
export { type MetaMachine, renderMeta } from "./meta.ts";
export {
  checkNetworkConfig,
  type NoCloudFiles,
  type NoCloudMachine,
  type NoCloudTemplates,
  renderNoCloud,
} from "./nocloud.ts";
export { createNoCloudIso, hashIso, noCloudLabel } from "./nocloud-iso.ts";
export { readIso } from "./read-iso.ts";
export { defaultTemplates } from "./templates.ts";
export { fillTemplate, type TemplateValue } from "./yaml-template.ts";
