// SPDX-License-Identifier: Apache-2.0
import type { ConfigDocument } from "./document/config-file.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, type Value, valueAt } from "./document/value.ts";
import { hardwareExpression } from "./expressions.ts";
import { findDocument, type PlacedSetting } from "./placed-setting.ts";

/**
 * machine.network.interfaces as documents. Undefined when an interface says more than addresses, routes, MTU, DHCP and a
 * shared address: bonds, bridges and VLANs need names in the newer form that the older one does not give. A link that is
 * selected by its hardware address has the name of the alias that selects it so.
 */
export function movedInterfaces(
  config: Section,
  after: readonly ConfigDocument[],
): readonly PlacedSetting[] | undefined {
  const devices = sectionsAt(config, "machine.network.interfaces");
  const places = devices.map((device) => (isPlain(device) ? placesOf(device, after) : undefined));
  return places.every((found) => found !== undefined) ? places.flat() : undefined;
}

const plainKeys: ReadonlySet<string> = new Set([
  "interface",
  "deviceSelector",
  "addresses",
  "routes",
  "mtu",
  "dhcp",
  "vip",
]);

function isPlain(device: Section): boolean {
  const only = (path: string, key: string) => [...(sectionAt(device, path)?.keys() ?? [])].every((one) => one === key);
  const isSimple = only("vip", "ip") && only("deviceSelector", "hardwareAddr");
  return isSimple && [...device.keys()].every((key) => plainKeys.has(key));
}

function placesOf(device: Section, after: readonly ConfigDocument[]): readonly PlacedSetting[] | undefined {
  const selector = textAt(device, "deviceSelector.hardwareAddr");
  if (selector === "") return placesOfLink(device, textAt(device, "interface"), after);
  const match = hardwareExpression(selector);
  const alias = after.find(
    ({ kind, section }) => kind === "LinkAliasConfig" && textAt(section, "selector.match") === match,
  );
  const name = textAt(alias?.section, "name");
  if (name === "") return undefined;
  const selected = { kind: "LinkAliasConfig", name, path: "selector.match", value: match };
  return [selected, ...placesOfLink(device, name, after)];
}

function placesOfLink(device: Section, name: string, after: readonly ConfigDocument[]): readonly PlacedSetting[] {
  const link = { kind: "LinkConfig", name };
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
