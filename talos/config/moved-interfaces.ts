// SPDX-License-Identifier: Apache-2.0
import type { ConfigDocument } from "./document/config-file.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, type Value, valueAt } from "./document/value.ts";
import { findDocument, type PlacedSetting } from "./placed-setting.ts";

/**
 * machine.network.interfaces as documents. Undefined when an interface says more than addresses, routes, MTU, DHCP and a
 * shared address: bonds, bridges, VLANs and selectors need names in the newer form that the older one does not give.
 */
export function movedInterfaces(
  config: Section,
  after: readonly ConfigDocument[],
): readonly PlacedSetting[] | undefined {
  const devices = sectionsAt(config, "machine.network.interfaces");
  const places = devices.map((device) => (isPlain(device) ? placesOf(device, after) : undefined));
  return places.every((found) => found !== undefined) ? places.flat() : undefined;
}

const plainKeys: ReadonlySet<string> = new Set(["interface", "addresses", "routes", "mtu", "dhcp", "vip"]);

function isPlain(device: Section): boolean {
  const sharedOnly = [...(sectionAt(device, "vip")?.keys() ?? [])].every((key) => key === "ip");
  return textAt(device, "interface") !== "" && sharedOnly && [...device.keys()].every((key) => plainKeys.has(key));
}

function placesOf(device: Section, after: readonly ConfigDocument[]): readonly PlacedSetting[] {
  const link = { kind: "LinkConfig", name: textAt(device, "interface") };
  const addresses: Value[] = textsAt(device, "addresses").map((address) => new Map([["address", address]]));
  const routes = sectionsAt(device, "routes").map(movedRoute);
  const mtu = valueAt(device, "mtu");
  const settings: PlacedSetting[] = [];
  if (addresses.length > 0) settings.push({ ...link, path: "addresses", value: addresses });
  if (routes.length > 0) settings.push({ ...link, path: "routes", value: routes });
  if (mtu !== undefined) settings.push({ ...link, path: "mtu", value: mtu });
  // Links come up in either form; the newer one may set it.
  const setsUp = valueAt(findDocument(after, link)?.section, "up") !== undefined;
  if (settings.length > 0 && setsUp) settings.push({ ...link, path: "up", value: true });
  if (valueAt(device, "dhcp") === true)
    settings.push({ kind: "DHCPv4Config", name: link.name, path: "name", value: link.name });
  const shared = textAt(device, "vip.ip");
  if (shared !== "") settings.push({ kind: "Layer2VIPConfig", name: shared, path: "link", value: link.name });
  return settings;
}

/** Documents name no destination for a default route, and may not. */
function movedRoute(route: Section): Value {
  const { network, ...rest } = Object.fromEntries(route);
  const everywhere = network === undefined || network === "" || network === "0.0.0.0/0" || network === "::/0";
  return new Map(Object.entries(everywhere ? rest : { destination: network, ...rest }));
}
