// SPDX-License-Identifier: Apache-2.0
// The unit tests share their processes, which saves each of them the loading of everything. So every file must leave
// the process as it has found it; what it does not put back is told here, and not by a test of another file.
import { afterAll, expect } from "vitest";

function trace() {
  // A synth sets it for good: it only makes the next ones faster.
  const { CDKTN_DISABLE_CREATION_STACK: _, ...environment } = process.env;
  return {
    environment,
    directory: process.cwd(),
    exitCode: process.exitCode,
    timers: setTimeout,
    clock: Date,
    fetch: globalThis.fetch,
    outputs: [process.stdout.write, process.stderr.write],
  };
}

const before = trace();
afterAll(() => {
  expect(trace(), "this file has left something behind in its process").toEqual(before);
});
