// SPDX-License-Identifier: Apache-2.0

import type { SettingKey } from "../../model/cluster-rules.ts";
import { clusterSettings, givenIn } from "../../model/settings/index.ts";
import { type Diagnostics, isUnknown, isWhollyKnown, path, type Value } from "../framework/index.ts";
import type { ClusterWishes } from "./cluster/attributes.ts";

type Settings = Pick<ClusterWishes, (typeof clusterSettings)[SettingKey]["attribute"]>;

/** The rules that hold for a cluster's settings at every entrance, at the attribute. Unknown values are not judged. */
export async function checkSettings(
  settings: Settings,
  diagnostics: Diagnostics,
  machines: ClusterWishes["machines"] = null,
): Promise<void> {
  const { settingViolations } = await import("../../model/cluster-rules.ts");
  const attributeValue = (key: SettingKey) => settings[clusterSettings[key].attribute] as Value;
  const known = Object.entries(settings).filter(([, value]) => isWhollyKnown(value as Value));
  const nodes = addressesOf(machines);
  const violations = settingViolations({ ...givenIn(clusterSettings, Object.fromEntries(known)), nodes });
  for (const { path: where, also, found, expected, hint } of violations) {
    const [key, index] = where;
    if (!isWhollyKnown(attributeValue(key)) || (also !== undefined && !isWhollyKnown(attributeValue(also[0]))))
      continue;
    const attribute = path(clusterSettings[key].attribute);
    diagnostics.error({
      summary: "Not a setting that a cluster can have",
      detail: `Found ${found}; expected ${expected}. ${hint}`,
      path: index === undefined ? attribute : attribute.index(index),
    });
  }
}

function addressesOf(machines: ClusterWishes["machines"]) {
  if (machines === null || isUnknown(machines)) return [];
  return Object.entries(machines).flatMap(([name, machine]) => {
    if (isUnknown(machine) || typeof machine.address !== "string") return [];
    return [{ cidr: machine.address, what: `${name}'s address` }];
  });
}
