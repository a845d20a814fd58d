// SPDX-License-Identifier: Apache-2.0
import type { Reporter, TestModule } from "vitest/node";

/**
 * Closes the run with one plain line that any CI can count. Before it stands what was skipped, so that a skip is
 * seen, and last what failed, because a CI often keeps only the end of a log.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly Failure[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skipped: string[] = [];
    const failed = unhandledErrors.map((error) => `an error outside of any test\n${messages([error])}`);
    for (const module of modules) {
      if (module.errors().length > 0) {
        count.failed += 1;
        failed.push(`${module.relativeModuleId}\n${messages(module.errors())}`);
      }
      // A hook that fails leaves its tests skipped.
      for (const suite of module.children.allSuites()) {
        const errors = suite.errors();
        if (errors.length === 0) continue;
        count.failed += 1;
        failed.push(`${module.relativeModuleId} > ${suite.fullName}\n${messages(errors)}`);
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === "passed") count.passed += 1;
        else if (state === "failed") {
          count.failed += 1;
          failed.push(`${module.relativeModuleId} > ${test.fullName}\n${messages(errors)}`);
        } else {
          count.skipped += 1;
          skipped.push(test.fullName);
        }
      }
    }
    for (const name of skipped) console.log(`SKIPPED ${name}`);
    for (const text of failed) console.log(`FAILED ${text}`);
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}

interface Failure {
  readonly message: string;
  readonly diff?: string;
  readonly stack?: string;
}

function messages(errors: readonly Failure[] = []): string {
  return errors
    .map(({ message, diff = "", stack = "" }) => [message, diff, stack].map((part) => part.slice(0, 1500)).join("\n"))
    .join("\n");
}
