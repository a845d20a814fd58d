// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { scalarValue, YamlFloat, YamlPlain, type YamlScalar } from "../../yaml/index.ts";
import { enumerations } from "../schema/enums.ts";
import { byteCountFault, formatByteCount, parseByteCount, readByteCount } from "./byte-count.ts";
import { formatGoDuration, parseGoDuration } from "./go-duration.ts";
import { parseAddress, parseAddressPort, parseHardwareAddress, parsePrefix } from "./network-address.ts";
import { urlFault, writtenUrl } from "./url.ts";
import type { Value } from "./value.ts";

/** The value in the form in which it is written back, or what is wrong with it in Talos's words. */
export type Decoded = { readonly value: Value } | { readonly fault: string };

type Decode = (node: YamlScalar) => Decoded;

const integerRanges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint: [0n, 2n ** 64n - 1n],
  uint8: [0n, 255n],
  uint16: [0n, 65_535n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

const decoders: Readonly<Record<string, Decode>> = {
  string: (node) => ({ value: node.text }),
  manifest: (node) => ({ value: node.text.replace(/^[\t\n\v\f\r]+/, "") }),
  bool: decodeBoolean,
  duration: decodeDuration,
  expression: (node) => ({ value: node.text }),
  url: decodeUrl,
  address: orUnset(parseAddress),
  prefix: orUnset(parsePrefix),
  addressPort: orUnset(parseAddressPort),
  hardwareAddress: orUnset(parseHardwareAddress),
  base64: decodeBase64,
  fileMode: decodeFileMode,
  diskSize: decodeDiskSize,
  sizeCondition: decodeSizeCondition,
  byteSize: decodeByteSize,
  size: decodeSize,
  portRange: decodePortRange,
};

/** Decodes a scalar of the named type. */
export function decodeScalar(node: YamlScalar, type: string): Decoded {
  if (type in integerRanges) return decodeInteger(node, type);
  const decode = decoders[type];
  if (decode === undefined) throw new TalosError("internal", `the schema has no scalar type ${type}`);
  return decode(node);
}

/** Decodes one of the words of an enumeration. */
export function decodeEnumeration(node: YamlScalar, name: string): Decoded {
  const words = enumerations[name] ?? [];
  const found = words.find((word) => word.toLowerCase() === node.text.toLowerCase());
  if (found !== undefined || node.text === "") return { value: found ?? "" };
  return { fault: `${node.text} does not belong to ${name} values` };
}

/** Empty text stands for an unset address. */
function orUnset(parse: (text: string) => Decoded): Decode {
  return (node) => (node.text === "" ? { value: "" } : parse(node.text));
}

function decodeBoolean(node: YamlScalar): Decoded {
  const value = scalarValue(node);
  if (typeof value === "boolean") return { value };
  // The older words are still taken where a boolean is wanted.
  if (node.plain && /^(?:y|Y|yes|Yes|YES|on|On|ON)$/.test(node.text)) return { value: true };
  if (node.plain && /^(?:n|N|no|No|NO|off|Off|OFF)$/.test(node.text)) return { value: false };
  return mismatch(node, "bool");
}

function decodeInteger(node: YamlScalar, type: string): Decoded {
  const value = scalarValue(node);
  const [low, high] = integerRanges[type] ?? [0n, 0n];
  const whole = value instanceof YamlFloat && Number.isInteger(value.value) ? value.value : value;
  if (typeof whole !== "number" && typeof whole !== "bigint") return mismatch(node, type);
  return BigInt(whole) < low || BigInt(whole) > high ? mismatch(node, type) : { value: whole };
}

function decodeDuration(node: YamlScalar): Decoded {
  const value = scalarValue(node);
  // A number without a unit is refused, unless it is zero.
  const nanoseconds = value === 0 ? 0n : typeof value === "number" ? undefined : parseGoDuration(node.text);
  if (nanoseconds === undefined) return mismatch(node, "time.Duration");
  return { value: nanoseconds === 0n ? "" : formatGoDuration(nanoseconds) };
}

function decodeUrl(node: YamlScalar): Decoded {
  const fault = urlFault(node.text);
  return fault === undefined ? { value: writtenUrl(node.text) } : { fault };
}

function decodeBase64(node: YamlScalar): Decoded {
  // A key that was redacted for showing stands as it is.
  if (node.text === "******") return { value: node.text };
  const fault = base64Fault(node.text);
  return fault === undefined ? { value: node.text } : { fault };
}

/** Why a text is no base64, in Go's words; undefined when it is. The text is not repeated. */
export function base64Fault(text: string): string | undefined {
  if (Buffer.from(text, "base64").toString("base64") === text) return undefined;
  const stray = /[^A-Za-z0-9+/=]/.exec(text);
  return `illegal base64 data at input byte ${stray?.index ?? text.length - (text.length % 4)}`;
}

function decodeFileMode(node: YamlScalar): Decoded {
  const decoded = decodeInteger(node, "uint32");
  return "fault" in decoded
    ? mismatch(node, "v1alpha1.FileMode")
    : { value: new YamlPlain(`0o${Number(decoded.value).toString(8)}`) };
}

function decodeDiskSize(node: YamlScalar): Decoded {
  const parsed = readByteCount(node.text);
  if ("fault" in parsed) return parsed;
  const { bytes } = parsed;
  const written = formatByteCount(bytes);
  return { value: bytes % 1000 === 0 && parseByteCount(written) === bytes ? written : bytes };
}

function decodeSizeCondition(node: YamlScalar): Decoded {
  const text = node.text.trim();
  const size = text.replace(/^(?:>=|<=|>|<|==)/, "").trim();
  const fault = byteCountFault(size);
  return fault === undefined ? { value: text } : { fault: `failed to parse disk size ${size}: ${fault}` };
}

function decodeByteSize(node: YamlScalar): Decoded {
  if (node.text === "") return { value: "" };
  const fault = byteCountFault(node.text.replace(/^-/, ""));
  return fault === undefined ? { value: node.text } : { fault };
}

function decodeSize(node: YamlScalar): Decoded {
  const percent = /^-?(\d+(?:\.\d+)?)%$/.exec(node.text)?.[1];
  if (percent === undefined) return decodeByteSize(node);
  if (Number(percent) <= 100) return { value: node.text };
  return { fault: `percentage must be between 0 and 100, got ${percent}` };
}

function decodePortRange(node: YamlScalar): Decoded {
  const port = decodeInteger(node, "uint16");
  if ("value" in port) return port;
  const [, low, high] = /^(\d+)-(\d+)$/.exec(node.text) ?? [];
  if (low === undefined || high === undefined || Number(low) > 65535 || Number(high) > 65535) {
    return { fault: `invalid port range: ${JSON.stringify(node.text)}` };
  }
  return { value: low === high ? Number(low) : `${Number(low)}-${Number(high)}` };
}

function mismatch(node: YamlScalar, type: string): { readonly fault: string } {
  return { fault: `cannot construct ${scalarTag(node)} \`${shortened(node.text)}\` into ${type}` };
}

/** How YAML calls the kind of a scalar. */
export function scalarTag(node: YamlScalar): string {
  const value = scalarValue(node);
  if (value === null) return "!!null";
  if (typeof value === "boolean") return "!!bool";
  if (typeof value === "number" || typeof value === "bigint") return "!!int";
  if (value instanceof YamlFloat) return "!!float";
  return value instanceof YamlPlain ? "!!timestamp" : "!!str";
}

/** Long values are cut, so that no error repeats a whole file. */
export function shortened(text: string): string {
  return text.length > 10 ? `${text.slice(0, 7)}...` : text;
}
