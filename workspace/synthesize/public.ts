// SPDX-License-Identifier: Apache-2.0
// What `import … from "talosmith"` gives: the two calls of a main.ts. The constructs are in "talosmith/constructs".
export { type ProjectOptions, synthesizeApp, synthesizeProject } from "./synthesize-project.ts";
