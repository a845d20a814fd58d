// SPDX-License-Identifier: Apache-2.0
export { appCommand } from "./app-command.ts";
export { type SynthesizeOptions, synthesizeEnvironments } from "./synthesize-environments.ts";
export { type ProjectOptions, synthesizeProject } from "./synthesize-project.ts";
