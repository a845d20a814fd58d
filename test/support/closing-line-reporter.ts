// SPDX-License-Identifier: Apache-2.0
import type { Reporter, TestModule } from "vitest/node";

/** Closes the run with one plain line that any CI can count, and names what was skipped, so that a skip is seen. */
// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      if (!module.ok() && module.children.size === 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") count.passed += 1;
        else if (state === "failed") count.failed += 1;
        else {
          count.skipped += 1;
          skipped.push(test.fullName);
        }
      }
    }
    for (const name of skipped) console.log(`SKIPPED ${name}`);
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}
