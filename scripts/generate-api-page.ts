// SPDX-License-Identifier: Apache-2.0
// Writes docs/api.md from the types of the package: `npm run generate:api`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiPage } from "./api-page.ts";
import { readPublicApi } from "./public-api.ts";

writeFileSync(join(import.meta.dirname, "..", "docs", "api.md"), apiPage(readPublicApi()));
