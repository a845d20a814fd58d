// SPDX-License-Identifier: Apache-2.0
// The CDK app: one stack for each file in environments/. talosmith, `cdktf deploy` and `cdktn synth` all run it.
import { synthesizeProject } from "./workspace/synthesize/index.ts";

await synthesizeProject(import.meta.dirname);
