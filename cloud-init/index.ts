// SPDX-License-Identifier: Apache-2.0
export { createIso } from "./iso.ts";
export { renderMeta } from "./meta.ts";
export {
  checkNetworkConfig,
  createNoCloudIso,
  defaultTemplates,
  hashNoCloudIso,
  type NoCloudFiles,
  type NoCloudMachine,
  type NoCloudTemplates,
  noCloudLabel,
  renderNoCloud,
} from "./nocloud.ts";
export { readIso } from "./read-iso.ts";
export { fillTemplate, type TemplateValue } from "./yaml-template.ts";
