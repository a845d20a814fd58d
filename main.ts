// SPDX-License-Identifier: Apache-2.0
// What `cdktf deploy`, `cdktn synth` and their like run: one stack per file in environments/.
import { synthesizeProject } from "./workspace/synthesize/index.ts";

await synthesizeProject(import.meta.dirname);
