// SPDX-License-Identifier: Apache-2.0
// What `cdktf synth`, `cdktn deploy` and their like run: one stack per file in environments/.
import { fileURLToPath } from "node:url";
import { synthesize } from "./constructs/index.ts";
import { formatFault } from "./talos/environment/index.ts";

const only = process.env.TALOSMITH_ENVIRONMENT;
const { stacks, failures } = synthesize({
  projectRoot: fileURLToPath(new URL(".", import.meta.url)),
  outdir: process.env.CDKTF_OUTDIR ?? "cdktf.out",
  ...(only === undefined ? {} : { environments: [only] }),
});

for (const warning of stacks.flatMap((stack) => stack.warnings)) console.error(`warning: ${formatFault(warning)}\n`);
for (const { error } of failures) console.error(`${error.message}\n`);
// The stock CLIs take a failure for that of every stack, so one broken environment must not be one.
if (stacks.length === 0 && failures.length > 0) process.exitCode = 1;
