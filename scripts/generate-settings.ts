// SPDX-License-Identifier: Apache-2.0
// Writes the props that constructs have for settings: `npm run generate:settings`.
import { writeFileSync } from "node:fs";
import { settingPropsFile, settingPropsSource } from "./setting-props.ts";

writeFileSync(new URL(`../${settingPropsFile}`, import.meta.url), settingPropsSource());
