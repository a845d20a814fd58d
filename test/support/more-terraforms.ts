// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { delimiter } from "node:path";
import { cleanEnvironment } from "./terraform.ts";

/** The programs that `TALOSMITH_TEST_TERRAFORMS` names, paths with a colon between them, with their versions. */
export const moreTerraforms = (process.env.TALOSMITH_TEST_TERRAFORMS ?? "")
  .split(delimiter)
  .filter((path) => path !== "")
  .map((path) => {
    const text = execFileSync(path, ["version", "-json"], { env: cleanEnvironment(), encoding: "utf8" });
    const version: string = JSON.parse(text).terraform_version;
    return { path, version };
  });
