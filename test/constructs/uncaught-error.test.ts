// SPDX-License-Identifier: Apache-2.0
// What somebody sees who gives a construct of the published package a wrong value: one sentence, not the bundle.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleOptions } from "../../scripts/bundle-options.ts";
import { runCommand } from "../support/run-command.ts";
import { repositoryRoot } from "./project.ts";

// Below node_modules, as an installed package is, and where it finds the CDK.
const modules = join(repositoryRoot, "node_modules/.cache");
mkdirSync(modules, { recursive: true });
const folder = mkdtempSync(join(modules, "talosmith-"));

beforeAll(async () => {
  const entryPoints = { index: join(repositoryRoot, "constructs/index.ts") };
  await build({ ...bundleOptions, absWorkingDir: repositoryRoot, entryPoints, outdir: folder });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [
    "in a constructor",
    'podCidrs: ["10.0.0.0/99"]',
    'lab/Default: podCidrs[0] is "10.0.0.0/99"; expected a network such as 10.244.0.0/16',
  ],
  [
    "when the stack is written",
    'patches: { machines: { nobody: ["machine: {}"] } }',
    "lab/Default: patches.machines.nobody: found patches for nobody; expected the name of one of this environment's machines. Its machines are lab-cp-1",
  ],
])("a wrong value is one sentence with the construct's path, %s", async (_, props, sentence) => {
  const main = join(folder, "main.js");
  writeFileSync(
    main,
    `import { App } from "cdktn";
import { SimulatedInfrastructure, TalosCluster, TalosStack } from "./index.js";
const app = new App({ outdir: ${JSON.stringify(join(folder, "out"))} });
const stack = new TalosStack(app, "lab");
const infrastructure = new SimulatedInfrastructure(stack, "simulator");
new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane: { count: 1 }, ${props} });
app.synth();
`,
  );
  const { code, stderr } = await runCommand(process.execPath, [main], { cwd: folder, env: {} });
  expect(code).toBe(1);
  expect(stderr).toContain(`ConstructInputError: ${sentence}`);
  // Node says where it stopped and its own version; nothing of the bundle is shown.
  expect(stderr.replace(sentence, "").length).toBeLessThan(300);
});
