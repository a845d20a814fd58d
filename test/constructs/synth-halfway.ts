// SPDX-License-Identifier: Apache-2.0
// A synth that says so when it has begun to write, and goes no further until it is killed: synth-halfway.ts <outdir>
import { writeSync } from "node:fs";
import { App, TerraformStack } from "cdktn";
import { writeWhole } from "../../constructs/index.ts";

class Halfway extends TerraformStack {
  override toTerraform(): never {
    writeSync(1, "halfway");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    throw new Error("nobody wakes it");
  }
}

const app = new App({ outdir: process.argv[2] ?? "" });
new Halfway(app, "stack");
writeWhole(app);
