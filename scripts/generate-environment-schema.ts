// SPDX-License-Identifier: Apache-2.0
// Writes schemas/environment.schema.json, which editors use for environment files.
import { writeFileSync } from "node:fs";
import { environmentJsonSchema } from "../talos/environment/index.ts";

const file = new URL("../schemas/environment.schema.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(environmentJsonSchema(), null, 2)}\n`);
