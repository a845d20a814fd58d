// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("closing a connection in the callback of its handshake does not crash the process", () => {
  const program = ["--import", "tsx", join(import.meta.dirname, "connections-close.ts")];
  const { status, signal, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
});
