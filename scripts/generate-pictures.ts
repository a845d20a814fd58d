// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { pictures } from "./pictures.ts";

for (const [file, content] of pictures()) writeFileSync(file, content);
