// SPDX-License-Identifier: Apache-2.0
import { type Diagnostics, isUnknown, isWhollyKnown, path, type Value } from "../framework/index.ts";
import type { ClusterWishes } from "./cluster/attributes.ts";

const attributeNames = {
  domain: "dns_domain",
  podCidrs: "pod_subnets",
  serviceCidrs: "service_subnets",
  certSans: "additional_sans",
  kubespan: "kubespan",
  discovery: "discovery",
} as const;

type Settings = Pick<ClusterWishes, (typeof attributeNames)[keyof typeof attributeNames]>;

/** The rules that hold for a cluster's settings at every entrance, at the attribute. Unknown values are not judged. */
export async function checkSettings(
  settings: Settings,
  diagnostics: Diagnostics,
  machines: ClusterWishes["machines"] = null,
): Promise<void> {
  const { settingViolations, usualSettings } = await import("../../model/cluster-rules.ts");
  const isKnown = (key: keyof typeof attributeNames) => isWhollyKnown(settings[attributeNames[key]] as Value);
  const given = (key: "podCidrs" | "serviceCidrs" | "certSans") =>
    isKnown(key) ? (settings[attributeNames[key]] as readonly string[] | null) : null;
  const flag = (value: Settings["kubespan"]) => (typeof value === "boolean" ? value : undefined);
  const violations = settingViolations({
    domain: typeof settings.dns_domain === "string" ? settings.dns_domain : undefined,
    podCidrs: given("podCidrs") ?? usualSettings.podCidrs,
    serviceCidrs: given("serviceCidrs") ?? usualSettings.serviceCidrs,
    certSans: given("certSans") ?? [],
    kubespan: flag(settings.kubespan),
    discovery: flag(settings.discovery),
    nodes: addressesOf(machines),
  });
  for (const { path: where, also, found, expected, hint } of violations) {
    const [key, index] = where;
    if (!isKnown(key) || (also !== undefined && !isKnown(also[0]))) continue;
    const attribute = path(attributeNames[key]);
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
