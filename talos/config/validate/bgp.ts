// SPDX-License-Identifier: Apache-2.0
import { overlap, type Prefix, readPrefix } from "../document/prefix.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import type { Check } from "./documents.ts";
import { quoted } from "./findings.ts";

export const checkBgpInstance: Check = (document, { errors, warnings }) => {
  if (textAt(document, "name") === "") errors.push("name must be specified");
  if (!valueAt(document, "localASN")) errors.push("localASN must be specified");
  if (textAt(document, "routerID").includes(":")) errors.push("routerID must be an IPv4 address");
  const neighbors = sectionsAt(document, "neighbors");
  if (neighbors.length === 0) warnings.push("BGPInstanceConfig has no neighbors configured");
  errors.push(...neighborFaults(neighbors, textAt(document, "vrf")), ...importFaults(document));
};

function neighborFaults(neighbors: readonly Section[], vrf: string): readonly string[] {
  const seen = new Set<string>();
  return neighbors.flatMap((neighbor, index) => {
    const at = `neighbor[${index}]:`;
    const [address, link] = [textAt(neighbor, "address"), textAt(neighbor, "link")];
    const faults: string[] = [];
    const single = (address === "") !== (link === "");
    if (!single) faults.push(`${at} exactly one of address or link must be set`);
    if (textAt(neighbor, "holdTime").startsWith("-")) faults.push(`${at} holdTime must not be negative`);
    const bfd = sectionAt(neighbor, "bfd");
    if (bfd && vrf !== "") faults.push(`${at} bfd is not supported for VRF-bound BGP instances`);
    for (const key of ["transmitInterval", "receiveInterval"]) {
      if (textAt(bfd, key).startsWith("-")) faults.push(`${at} bfd.${key} must not be negative`);
    }
    const key = address || link;
    if (single && seen.has(key)) faults.push(`${at} duplicate neighbor ${quoted(key)}`);
    if (single) seen.add(key);
    return faults;
  });
}

function importFaults(document: Section): readonly string[] {
  const own = textAt(document, "name");
  const sources = new Set<string>();
  const before: { readonly prefix: Prefix; readonly route: number }[] = [];
  return sectionsAt(document, "importRoutes").flatMap((route, index) => {
    const at = `importRoutes[${index}]`;
    const source = textAt(route, "bgpInstance");
    const prefixes = textsAt(route, "prefixes").map(readPrefix);
    const faults: string[] = [];
    if (source === "") faults.push(`${at}: bgpInstance must be specified`);
    if (source !== "" && source === own) faults.push(`${at}: cannot import from the same BGP instance ${quoted(own)}`);
    if (prefixes.length === 0) faults.push(`${at}: at least one prefix must be specified`);
    faults.push(...prefixFaults(prefixes, at));
    if (source !== "" && sources.has(source)) faults.push(`${at}: duplicate source BGP instance ${quoted(source)}`);
    sources.add(source);
    for (const prefix of prefixes.filter((one) => one?.masked === true)) {
      if (prefix === undefined) continue;
      for (const other of before) {
        if (other.route === index || !overlap(other.prefix, prefix)) continue;
        faults.push(`${at}: prefix ${prefix.text} overlaps importRoutes[${other.route}] prefix ${other.prefix.text}`);
      }
      before.push({ prefix, route: index });
    }
    return faults;
  });
}

function prefixFaults(prefixes: readonly (Prefix | undefined)[], at: string): readonly string[] {
  return prefixes.flatMap((prefix, number) => {
    const place = `${at}.prefixes[${number}]:`;
    if (prefix === undefined) return [`${place} invalid prefix`];
    const overlaps = prefixes.slice(0, number).flatMap((other, earlier) => {
      if (other === undefined || !overlap(other, prefix)) return [];
      return [`${place} prefix ${prefix.text} overlaps prefixes[${earlier}] ${other.text}`];
    });
    return prefix.masked ? overlaps : [`${place} prefix ${prefix.text} must be masked`, ...overlaps];
  });
}
