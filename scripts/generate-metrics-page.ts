// SPDX-License-Identifier: Apache-2.0
// Writes docs/metrics.md from the definitions of the metrics: `npm run generate:metrics`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { definitions, metricsPage } from "../watch/index.ts";

writeFileSync(join(import.meta.dirname, "..", "docs", "metrics.md"), metricsPage(definitions));
