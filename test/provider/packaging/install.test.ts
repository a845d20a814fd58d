// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startFile } from "../../../provider/packaging/bundle.ts";
import { installUnder } from "../../../provider/packaging/install.ts";

let plugins: string;
beforeEach(() => {
  plugins = mkdtempSync(join(tmpdir(), "talosmith-plugins-"));
});
afterEach(() => rmSync(plugins, { recursive: true, force: true }));

const identity = { source: "talosmith.internal/talosmith/talosmith", version: "1.0.0" };
const files = (content: string) => new Map([[startFile, Buffer.from(content)]]);

test("several runs at once install the same provider, and nothing is left of those that came late", async () => {
  await installUnder(plugins, files("old"), identity);
  for (let round = 0; round < 20; round++) {
    const content = `new ${round}`;
    const targets = await Promise.all(Array.from({ length: 4 }, () => installUnder(plugins, files(content), identity)));
    for (const target of targets) expect(readFileSync(join(target, "linux_amd64", startFile), "utf8")).toBe(content);
  }
  expect(readdirSync(join(plugins, identity.source))).toEqual(["1.0.0"]);
});
