// SPDX-License-Identifier: Apache-2.0
export {
  type ProjectOptions,
  type SynthesizeOptions,
  synthesizeEnvironments,
  synthesizeProject,
} from "./synthesize-project.ts";
