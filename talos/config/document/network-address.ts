// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";

/** Either the value in the form that Go writes, or what is wrong with it in Go's words. */
export type Parsed = { readonly value: string } | { readonly fault: string };

export function parseAddress(text: string): Parsed {
  const fault = addressFault(text);
  if (fault !== undefined) return { fault: `ParseAddr(${JSON.stringify(text)}): ${fault}` };
  return { value: canonicalAddress(text) };
}

export function parsePrefix(text: string): Parsed {
  const failed = (reason: string): Parsed => ({ fault: `netip.ParsePrefix(${JSON.stringify(text)}): ${reason}` });
  const slash = text.lastIndexOf("/");
  if (slash < 0) return failed("no '/'");
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  const parsed = parseAddress(address);
  if ("fault" in parsed) return failed(parsed.fault);
  if (address.includes("%")) return failed("IPv6 zones cannot be present in a prefix");
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) return failed(`bad bits after slash: ${JSON.stringify(bits)}`);
  if (Number(bits) > (address.includes(":") ? 128 : 32)) return failed("prefix length out of range");
  return { value: `${parsed.value}/${bits}` };
}

export function parseAddressPort(text: string): Parsed {
  const colon = text.lastIndexOf(":");
  if (colon < 0) return { fault: "not an ip:port" };
  const [host, port] = [text.slice(0, colon), text.slice(colon + 1)];
  if (!/^\d+$/.test(port) || Number(port) > 65535) {
    return { fault: `invalid port ${JSON.stringify(port)} parsing ${JSON.stringify(text)}` };
  }
  const bracketed = /^\[(.*)\]$/.exec(host)?.[1];
  const address = parseAddress(bracketed ?? host);
  if ("fault" in address) return address;
  if (address.value.includes(":") !== (bracketed !== undefined)) {
    return { fault: `invalid ip:port ${JSON.stringify(text)}, square brackets can only be used with IPv6 addresses` };
  }
  return { value: bracketed === undefined ? `${address.value}:${port}` : `[${address.value}]:${port}` };
}

/** Lower case with colons. Talos takes any number of bytes, and colons wherever they stand. */
export function parseHardwareAddress(text: string): Parsed {
  const digits = text.replaceAll(":", "");
  const [stray] = /[^0-9A-Fa-f]/u.exec(digits) ?? [];
  if (stray !== undefined) return { fault: `encoding/hex: invalid byte: ${byteInGo(stray)}` };
  if (digits.length % 2 === 1) return { fault: "encoding/hex: odd length hex string" };
  return { value: (digits.toLowerCase().match(/../g) ?? []).join(":") };
}

/** The first byte of a character as Go's `%#U` shows it: `U+002D '-'`. */
function byteInGo(character: string): string {
  const byte = Buffer.from(character)[0] ?? 0;
  const code = `U+${byte.toString(16).toUpperCase().padStart(4, "0")}`;
  const shown = String.fromCharCode(byte);
  return /[\p{C}\p{Z}]/u.test(shown) && shown !== " " ? code : `${code} '${shown}'`;
}

function addressFault(text: string): string | undefined {
  if (text.includes(":")) return ipv6Fault(text);
  if (!text.includes(".")) return "unable to parse IP";
  const stray = /[^0-9.]/.exec(text);
  if (stray !== null) return `unexpected character (at ${JSON.stringify(text.slice(stray.index))})`;
  const parts = text.split(".");
  for (const part of parts.slice(0, 4)) {
    if (part === "") return "IPv4 field must have at least one digit";
    if (part.length > 1 && part.startsWith("0")) return "IPv4 field has octet with leading zero";
    if (Number(part) > 255) return "IPv4 field has value >255";
  }
  if (parts.length > 4) return "IPv4 address too long";
  return parts.length < 4 ? "IPv4 address too short" : undefined;
}

function ipv6Fault(text: string): string | undefined {
  if (ipaddr.IPv6.isValid(text)) return undefined;
  const stray = /[^0-9A-Fa-f:.]/.exec(text);
  if (stray !== null && stray[0] !== "%") {
    const reason = /[0-9A-Fa-f]/.test(text[stray.index - 1] ?? "")
      ? "unexpected character, want colon"
      : "each colon-separated field must have at least one digit";
    return `${reason} (at ${JSON.stringify(text.slice(stray.index))})`;
  }
  return "address string too short";
}

function canonicalAddress(text: string): string {
  if (!text.includes(":")) return text;
  const [address = "", zone] = text.split("%");
  const parsed = ipaddr.IPv6.parse(address);
  const written = parsed.isIPv4MappedAddress()
    ? `::ffff:${parsed.toIPv4Address().toString()}`
    : parsed.toRFC5952String();
  return zone === undefined ? written : `${written}%${zone}`;
}

/** A subnet, or an address with its mask. */
export interface Prefix {
  /** In the form that Go writes. */
  readonly text: string;
  readonly bits: number;
  /** 32 or 128. */
  readonly width: number;
  /** No bit is set after the mask. */
  readonly masked: boolean;
  readonly value: bigint;
}

/** Undefined when the text is no prefix. */
export function readPrefix(text: string): Prefix | undefined {
  const parsed = parsePrefix(text);
  if ("fault" in parsed) return undefined;
  const slash = parsed.value.lastIndexOf("/");
  const bytes = ipaddr.parse(parsed.value.slice(0, slash)).toByteArray();
  const bits = Number(parsed.value.slice(slash + 1));
  const width = bytes.length * 8;
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const masked = value % (1n << BigInt(width - bits)) === 0n;
  return { text: parsed.value, bits, width, masked, value };
}

/** Whether one of them lies in the other. */
export function overlap(left: Prefix, right: Prefix): boolean {
  if (left.width !== right.width) return false;
  const free = BigInt(left.width - Math.min(left.bits, right.bits));
  return left.value >> free === right.value >> free;
}
