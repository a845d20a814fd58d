#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// The published package is compiled; a checkout runs its TypeScript as it is, even when a build lies beside it.
const source = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
if (existsSync(source)) {
  const { runFromSource } = await import("../scripts/from-source.js");
  await runFromSource(source);
} else {
  await import("../dist/cli/main.js");
}
