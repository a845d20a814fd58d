// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { providerDocs } from "../../provider/docs.ts";

const root = join(import.meta.dirname, "..", "..");
const examples = join(root, "examples", "provider");
const docs = providerDocs((name) => {
  const file = join(examples, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
});

describe("the provider's reference", () => {
  test("is as the schemas say: run `npm run generate:docs` when this fails", () => {
    const folder = join(root, "docs", "provider");
    const present = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    expect(present.sort()).toEqual([...docs.keys()].sort());
    for (const [name, text] of docs) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
  });

  test("has an example for everything, of this version", () => {
    for (const [name, text] of docs) expect(text, name).toContain("## Example Usage");
    expect(docs.get("index.md")).toContain(`version = "${packageJson.version}"`);
  });
});
