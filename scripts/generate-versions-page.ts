// SPDX-License-Identifier: Apache-2.0
// Writes docs/versions.md from what is known about releases: `npm run generate:versions`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { versionsPage } from "./versions-page.ts";

writeFileSync(join(import.meta.dirname, "..", "docs", "versions.md"), versionsPage());
