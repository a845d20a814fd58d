// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const header = "SPDX-License-Identifier: Apache-2.0";
const listed = execFileSync("git", [
  "ls-files",
  "--cached",
  "--others",
  "--exclude-standard",
  "*.ts",
  "*.js",
  "*.proto",
]);
const missing = listed
  .toString()
  .split("\n")
  .filter((file) => file !== "" && existsSync(file) && !/(^|\/)gen\//.test(file))
  .filter((file) => !readFileSync(file, "utf8").slice(0, 200).includes(header));

if (missing.length > 0) {
  console.error(`Without the line "// ${header}":\n  ${missing.join("\n  ")}`);
  process.exit(1);
}
