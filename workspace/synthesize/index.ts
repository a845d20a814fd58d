// SPDX-License-Identifier: Apache-2.0
export { appFailure } from "./app-failure.ts";
export {
  type ProjectOptions,
  readMark,
  type SynthesizeOptions,
  synthesizeEnvironments,
  synthesizeProject,
  unsavedFilesVariable,
} from "./synthesize-project.ts";
