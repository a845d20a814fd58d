// SPDX-License-Identifier: Apache-2.0
// A process of its own for the synth rows. Argument: the project's root.
import { join } from "node:path";
import { synthesize } from "../../constructs/index.ts";

const [root = ""] = process.argv.slice(2);
const { failures } = synthesize({ projectRoot: root, outdir: join(root, "cdktf.out") });
for (const { error } of failures) throw error;
