// SPDX-License-Identifier: Apache-2.0
export { appFailure } from "./app-failure.ts";
export {
  type ProjectOptions,
  type SynthesizeOptions,
  synthesizeEnvironments,
  synthesizeProject,
} from "./synthesize-project.ts";
