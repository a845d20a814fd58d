// SPDX-License-Identifier: Apache-2.0
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const shared = { globalSetup: ["test/support/clean-environment.ts"], env: { NO_COLOR: "1" } };

export default defineConfig({
  test: {
    // Many tests wait for machines: with the default, which leaves a core idle, two cores are half idle.
    maxWorkers: Math.max(3, availableParallelism()),
    reporters: ["default", "./test/support/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/acceptance/**"],
          // To load everything anew for each file takes a quarter of the time of all of them.
          isolate: false,
          setupFiles: ["test/support/leaves-no-trace.ts"],
          // A bound for what hangs, not for what is slow: machines may be crowded.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: "acceptance",
          include: ["test/acceptance/**/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
