// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "talosmith-source-")));
const main = join(folder, "main.ts");
const part = join(folder, "part.ts");
const cache = join("node_modules", ".cache", "talosmith");
const name = `run-${createHash("sha256").update(main).digest("hex").slice(0, 12)}`;
const bundles = () => readdirSync(cache).filter((entry) => entry.startsWith(name));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const entry of bundles()) rmSync(join(cache, entry), { recursive: true, force: true });
});

const run = () =>
  execFileSync(process.execPath, ["scripts/from-source.js", main, "--flag"], { encoding: "utf8", stdio: "pipe" });

test("runs a source as it is now, from a bundle that is made only when a source has changed", () => {
  writeFileSync(
    main,
    `const { word } = await import("./part.ts");
class Resource {}
console.log(JSON.stringify([word, import.meta.dirname, import.meta.url, process.argv.slice(1), Resource.name]));\n`,
  );
  writeFileSync(part, 'export const word: string = "first";\n');
  const place = [folder, `file://${main}`, [main, "--flag"], "Resource"];
  expect(JSON.parse(run())).toEqual(["first", ...place]);
  const made = bundles();
  expect(made).toHaveLength(2);
  expect(JSON.parse(run())).toEqual(["first", ...place]);
  expect(bundles()).toEqual(made);
  const { atime, mtime } = statSync(part);
  writeFileSync(part, 'export const word: string = "other";\n');
  // Neither size nor date tell.
  utimesSync(part, atime, mtime);
  expect(JSON.parse(run())).toEqual(["other", ...place]);
  rmSync(part);
  expect(run).toThrow("./part.ts");
});
