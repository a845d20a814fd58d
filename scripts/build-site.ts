// SPDX-License-Identifier: Apache-2.0
// Builds the documentation as a site into dist/site: `npm run docs`. The generator and what it needs are installed in scripts/site/
// only, so that neither users nor `npm ci` carry them.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const site = join(root, "scripts", "site");
const pages = join(site, "pages");

if (!existsSync(join(site, "node_modules", "vitepress")))
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: site, stdio: "inherit" });

rmSync(pages, { recursive: true, force: true });
const wanted = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"],
  ...below("docs", /\.(md|svg|png)$/),
  ...below("examples", /\.(md|svg)$/),
  ...below("locks", /\.md$/),
];
for (const file of wanted) {
  // The first page of the site is that of the repository.
  const target = join(pages, file === "README.md" ? "index.md" : file);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, file), target);
}
mkdirSync(join(pages, "public"), { recursive: true });
cpSync(join(site, "node_modules/mermaid/dist/mermaid.min.js"), join(pages, "public/mermaid.min.js"));

const vitepress = join(site, "node_modules/vitepress/bin/vitepress.js");
execFileSync(process.execPath, [vitepress, "build", "."], { cwd: site, stdio: "inherit" });

function below(folder: string, wanted: RegExp): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => wanted.test(name) && !name.includes("node_modules"))
    .map((name) => join(folder, name));
}
