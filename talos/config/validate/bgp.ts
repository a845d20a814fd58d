// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../given.ts";
import { overlap, type Prefix, readPrefix } from "../document/network-address.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { type Faults, type Findings, quoted, unset } from "./findings.ts";

export function* checkBgpInstance(document: Section): Findings {
  yield* unset(document, { name: "name must be specified" });
  if (!valueAt(document, "localASN")) yield "localASN must be specified";
  if (textAt(document, "routerID").includes(":")) yield "routerID must be an IPv4 address";
  const neighbors = sectionsAt(document, "neighbors");
  if (neighbors.length === 0) yield { warning: "BGPInstanceConfig has no neighbors configured" };
  yield* neighborFaults(neighbors, textAt(document, "vrf"));
  yield* importFaults(document);
}

function* neighborFaults(neighbors: readonly Section[], vrf: string): Faults {
  const seen = new Set<string>();
  for (const [index, neighbor] of neighbors.entries()) {
    const at = `neighbor[${index}]:`;
    const [address, link] = [textAt(neighbor, "address"), textAt(neighbor, "link")];
    const single = (address === "") !== (link === "");
    if (!single) yield `${at} exactly one of address or link must be set`;
    if (textAt(neighbor, "holdTime").startsWith("-")) yield `${at} holdTime must not be negative`;
    const bfd = sectionAt(neighbor, "bfd");
    if (bfd && vrf !== "") yield `${at} bfd is not supported for VRF-bound BGP instances`;
    for (const key of ["transmitInterval", "receiveInterval"])
      if (textAt(bfd, key).startsWith("-")) yield `${at} bfd.${key} must not be negative`;
    const key = address || link;
    if (single && seen.has(key)) yield `${at} duplicate neighbor ${quoted(key)}`;
    if (single) seen.add(key);
  }
}

function* importFaults(document: Section): Faults {
  const own = textAt(document, "name");
  const sources = new Set<string>();
  const before: { readonly prefix: Prefix; readonly route: number }[] = [];
  for (const [index, route] of sectionsAt(document, "importRoutes").entries()) {
    const at = `importRoutes[${index}]`;
    const source = textAt(route, "bgpInstance");
    const prefixes = textsAt(route, "prefixes").map(readPrefix);
    if (source === "") yield `${at}: bgpInstance must be specified`;
    if (source !== "" && source === own) yield `${at}: cannot import from the same BGP instance ${quoted(own)}`;
    if (prefixes.length === 0) yield `${at}: at least one prefix must be specified`;
    yield* prefixFaults(prefixes, at);
    if (source !== "" && sources.has(source)) yield `${at}: duplicate source BGP instance ${quoted(source)}`;
    sources.add(source);
    for (const prefix of prefixes.filter(isGiven).filter(({ masked }) => masked)) {
      for (const other of before)
        if (other.route !== index && overlap(other.prefix, prefix))
          yield `${at}: prefix ${prefix.text} overlaps importRoutes[${other.route}] prefix ${other.prefix.text}`;
      before.push({ prefix, route: index });
    }
  }
}

function* prefixFaults(prefixes: readonly (Prefix | undefined)[], at: string): Faults {
  for (const [number, prefix] of prefixes.entries()) {
    const place = `${at}.prefixes[${number}]:`;
    if (prefix === undefined) yield `${place} invalid prefix`;
    else if (!prefix.masked) yield `${place} prefix ${prefix.text} must be masked`;
    for (const [earlier, other] of prefixes.slice(0, number).entries())
      if (prefix !== undefined && other !== undefined && overlap(other, prefix))
        yield `${place} prefix ${prefix.text} overlaps prefixes[${earlier}] ${other.text}`;
  }
}
