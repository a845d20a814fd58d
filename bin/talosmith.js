#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";

// The published package is compiled; a checkout runs its TypeScript as it is, even when a build lies beside it.
const source = new URL("../cli/main.ts", import.meta.url);
if (existsSync(source)) {
  const { register } = await import("tsx/esm/api");
  register();
  await import(source.href);
} else {
  await import("../dist/cli/main.js");
}
