// SPDX-License-Identifier: Apache-2.0
// Writes schemas/environment.schema.json, which editors use for environment files, and docs/configuration.md from it.
import { writeFileSync } from "node:fs";
import { environmentJsonSchema } from "../model/index.ts";
import { configurationPage } from "./configuration-page.ts";

const root = new URL("../", import.meta.url);
writeFileSync(
  new URL("schemas/environment.schema.json", root),
  `${JSON.stringify(environmentJsonSchema(), null, 2)}\n`,
);
writeFileSync(new URL("docs/configuration.md", root), configurationPage());
