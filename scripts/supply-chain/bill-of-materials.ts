// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import * as z from "zod";

const component = z.looseObject({
  "bom-ref": z.string(),
  name: z.string(),
  version: z.string(),
  scope: z.enum(["required", "optional"]),
  properties: z.array(z.looseObject({ name: z.string() })).optional(),
});

const bill = z.looseObject({
  specVersion: z.string(),
  metadata: z.looseObject({ component: z.looseObject({ name: z.string() }) }),
  components: z.array(component),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

export type BillOfMaterials = z.infer<typeof bill>;

/** What the lock file says, development included, in the CycloneDX form. */
export function billOfLockFile(root: string): BillOfMaterials {
  const printed = execFileSync("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1 << 26,
  });
  return bill.parse(JSON.parse(printed));
}

/**
 * What a user gets: the dependencies, and the packages whose code is bundled. Without time and serial number, so that
 * the same lock file gives the same bytes.
 */
export function shippedBill(
  all: BillOfMaterials,
  bundled: readonly { readonly name: string; readonly version: string }[],
): BillOfMaterials {
  const inside = new Set(bundled.map(({ name, version }) => `${name}@${version}`));
  const components = all.components
    .filter(({ name, version, scope }) => scope === "required" || inside.has(`${name}@${version}`))
    .map((each) => ({
      ...each,
      scope: "required" as const,
      properties: each.properties?.filter(({ name }) => name !== "cdx:npm:package:development") ?? [],
    }));
  const own = all.metadata.component;
  const kept = new Set([own["bom-ref"], ...components.map((each) => each["bom-ref"])]);
  const { serialNumber: _, ...rest } = all;
  const { timestamp: __, ...metadata } = all.metadata;
  return {
    ...rest,
    metadata: { ...metadata, component: { ...own, name: "talosmith" } },
    components,
    dependencies: all.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) })),
  };
}
