// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { versionsPage } from "../../scripts/versions-page.ts";
import { releases } from "../../talos/version/releases.ts";

test("the page of supported versions is the generated one: npm run generate:versions", () => {
  expect(readFileSync("docs/versions.md", "utf8")).toBe(versionsPage());
});

test("it has a row for each release", () => {
  for (const { minor, newest, defaultKubernetes } of releases)
    expect(versionsPage()).toMatch(
      new RegExp(`^\\| 1\\.${minor} \\| .* \\| ${newest} \\| .* \\| ${defaultKubernetes} \\|`, "m"),
    );
});
