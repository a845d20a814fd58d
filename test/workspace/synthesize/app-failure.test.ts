// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { appFailure } from "../../../workspace/synthesize/app-failure.ts";

const uncaught = `node:internal/modules/run_main:123
    triggerUncaughtException(
    ^

ConstructInputError: local/c: talosVersion is "1.13"; expected an exact Talos version, such as v1.13.9
    at refuse (/opt/talosmith/constructs/errors.ts:27:9)
    at new TalosCluster (/home/ann/lab/node_modules/talosmith/constructs/talos-cluster.ts:107:5)
    at addCluster (/home/ann/lab/clusters/one.ts:12:3)
    at <anonymous> (/home/ann/lab/main.ts:5:1)

Node.js v20.20.2
`;

const missing = `node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'tsx' imported from /home/ann/lab/
    at packageResolve (node:internal/modules/esm/resolve:873:9) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v20.20.2
`;

test.each([
  [
    "a construct",
    uncaught,
    'clusters/one.ts:12:3: local/c: talosVersion is "1.13"; expected an exact Talos version, such as v1.13.9',
  ],
  ["a package that is missing", missing, "Cannot find package 'tsx' imported from /home/ann/lab/"],
  [
    "code of the project",
    "TypeError: Cannot read properties of undefined (reading 'foo')\n    at extend (file:///home/ann/lab/main.ts:4:26)\n    at synthesize (/opt/x.ts:1:1)",
    "main.ts:4:26: Cannot read properties of undefined (reading 'foo')",
  ],
  ["several lines", "Error: first\nsecond\n    at main (/home/ann/lab/main.ts:1:1)\n", "main.ts:1:1: first\nsecond"],
  [
    "a sentence",
    "1 error in environment local\n\nenvironments/local.yaml:1:1\n",
    "1 error in environment local\n\nenvironments/local.yaml:1:1",
  ],
])("what an app prints when it fails becomes a sentence with its place: %s", (_what, output, sentence) => {
  expect(appFailure(output, "/home/ann/lab")).toBe(sentence);
});
