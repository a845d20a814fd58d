// SPDX-License-Identifier: Apache-2.0
import type { BundledPackage } from "./bundled-packages.ts";

const rule = "-".repeat(80);

/** Passes on the licences of the code inside of dist/, as most of them ask for: each text once, under those it is of. */
export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const byText = new Map<string, BundledPackage[]>();
  for (const each of packages) byText.set(each.licenseText, [...(byText.get(each.licenseText) ?? []), each]);
  const notices = [...byText].map(([text, those]) =>
    [
      rule,
      ...those.map(({ name, version, license }) => `${name} ${version} (${license})`),
      "",
      text || "Without a text of the licence in the package.",
    ].join("\n"),
  );
  return `This package contains code of ${packages.length} others, under their own licences.\n\n${notices.join("\n\n")}\n`;
}
