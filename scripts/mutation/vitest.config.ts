// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";
import { mutationTargets } from "../mutation-targets.ts";

const { TALOSMITH_MUTATE: name } = process.env;
const target = mutationTargets.find((one) => one.name === name);
if (target === undefined) throw new Error(`TALOSMITH_MUTATE is ${name}: run npm run mutate`);

export default defineConfig({
  test: {
    include: [...target.tests],
    // A new start for each file would cost more than the tests themselves; none of these files leaves anything behind.
    isolate: false,
    setupFiles: ["scripts/mutation/setup.ts"],
    globalSetup: ["test/support/clean-environment.ts"],
    env: { NO_COLOR: "1", TALOSMITH_HISTORIES: "20" },
    testTimeout: 30_000,
  },
});
