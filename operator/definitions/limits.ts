// SPDX-License-Identifier: Apache-2.0
import { isSchema, propertiesOf, type Schema } from "./structural.ts";

/** Bounds of what rules read: the API server refuses a rule whose cost could be without bounds. */
const bounds: Readonly<Record<string, Schema>> = {
  name: { maxLength: 40 },
  domain: { maxLength: 253 },
  talosVersion: { maxLength: 40, pattern: "^v[0-9]{1,4}\\.[0-9]{1,4}\\.[0-9]{1,4}(-[0-9A-Za-z.-]+)?$" },
  kubernetesVersion: { maxLength: 40, pattern: "^[0-9]{1,4}\\.[0-9]{1,4}\\.[0-9]{1,4}(-[0-9A-Za-z.-]+)?$" },
  podCidrs: { maxItems: 8 },
  serviceCidrs: { maxItems: 8 },
};

/** The schema of a cluster section with these bounds. */
export function bounded(cluster: Schema): Schema {
  const fields = Object.entries(propertiesOf(cluster)).map(([name, field]): readonly [string, Schema] => {
    const own = bounds[name];
    if (own === undefined) return [name, field];
    const items = isSchema(field.items) ? { items: { ...field.items, maxLength: 64 } } : {};
    return [name, { ...field, ...own, ...items }];
  });
  return { ...cluster, properties: Object.fromEntries(fields) };
}
