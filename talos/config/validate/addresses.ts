// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { parseAddress, parsePrefix } from "../document/network-address.ts";
import { urlFault } from "../document/url.ts";
import { type Faults, quoted } from "./findings.ts";

/** Whether Go's net.ParseIP would take it. */
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (/^[^%]*:[^%]*$/.test(text) && ipaddr.IPv6.isValid(text));
}

/** Whether Go's net.ParseCIDR would take it. */
export function isNetwork(text: string): boolean {
  return "value" in parsePrefix(text);
}

/** What is wrong with an address with or without a mask; undefined when nothing is. */
export function addressFault(text: string): string | undefined {
  if (text.includes("/")) return isNetwork(text) ? undefined : `invalid CIDR address: ${text}`;
  return isAddress(text) ? undefined : `failed to parse IP address ${JSON.stringify(text)}`;
}

/** A subnet or an address, with `!` before it where it is meant to be left out. */
export function isSubnetOrAddress(text: string): boolean {
  const bare = text.replace(/^!/, "");
  return bare.includes("/") ? "value" in parsePrefix(bare) : "value" in parseAddress(bare);
}

/** Of several of those. */
export function* subnetFaults(texts: readonly string[], what: string): Faults {
  for (const text of texts)
    if (!isSubnetOrAddress(text)) yield `${what} is not valid: ${quoted(text.replace(/^!/, ""))}`;
}

/** What is wrong with the URL of a cluster; undefined when nothing is. */
export function endpointFault(text: string): string | undefined {
  const fault = urlFault(text);
  if (fault !== undefined) return fault;
  const { host, port } = urlParts(text);
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare === host && host.split(":").length > 2) return "IPv6 addresses MUST be enclosed by square brackets";
  if (bare === "") return "hostname must not be blank";
  if (port === "" || (Number(port) >= 1 && Number(port) <= 65535)) return undefined;
  return "port number must be between 1 and 65535";
}

/** The parts of a URL, also of one with a scheme that browsers do not know; without its query and fragment. */
export function urlParts(url: string): { scheme: string; host: string; port: string; path: string } {
  const text = url.replace(/[?#].*$/s, "");
  const [, scheme = "", slashes = "", rest = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):(\/\/)?(.*)$/.exec(text) ?? [];
  if (scheme === "") return { scheme, host: "", port: "", path: text };
  if (slashes === "") return { scheme: scheme.toLowerCase(), host: "", port: "", path: "" };
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const [, host = authority, port = ""] = /^(.*?)(?::(\d*))?$/.exec(authority) ?? [];
  return { scheme: scheme.toLowerCase(), host, port, path: slash < 0 ? "" : rest.slice(slash) };
}
