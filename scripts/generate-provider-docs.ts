// SPDX-License-Identifier: Apache-2.0
// Writes docs/provider in the registry's form from the provider's own schemas: `npm run generate:docs`. With --check it
// only compares, and fails where a file is stale.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { providerDocs } from "../provider/docs.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs", "provider");
const docs = providerDocs((name) => {
  const file = join(root, "examples", "provider", name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
});

const present = existsSync(folder)
  ? readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  : [];

if (process.argv.includes("--check")) {
  const stale = [
    ...[...docs].filter(([name, text]) => !present.includes(name) || readFileSync(join(folder, name), "utf8") !== text),
    ...present.filter((name) => !docs.has(name)).map((name) => [name] as const),
  ].map(([name]) => name);
  if (stale.length > 0) {
    console.error(`docs/provider is stale: ${stale.join(", ")}. Run: npm run generate:docs`);
    process.exitCode = 1;
  }
} else {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of docs) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
