// SPDX-License-Identifier: Apache-2.0

/** Of a unit in small letters: k and kb are 1000, ki and kib 1024. */
function factorOf(unit: string): number | undefined {
  const found = /^(?:([kmgtpe])(i?))?b?$/.exec(unit);
  return found === null ? undefined : (found[2] ? 1024 : 1000) ** " kmgtpe".indexOf(found[1] ?? " ");
}

/** Reads `10GB`, `512 MiB` or a plain number of bytes. Undefined when it is no size. */
export function parseByteCount(text: string): number | undefined {
  const parsed = readByteCount(text);
  return "fault" in parsed ? undefined : parsed.bytes;
}

/** Why a text is no size, in Go's words; undefined when it is one. */
export function byteCountFault(text: string): string | undefined {
  const parsed = readByteCount(text);
  return "fault" in parsed ? parsed.fault : undefined;
}

/** The number of bytes, or why there is none. */
export function readByteCount(text: string): { readonly bytes: number } | { readonly fault: string } {
  const [, number = "", unit = ""] = /^([0-9.,]*)(.*)$/s.exec(text) ?? [];
  const digits = number.replaceAll(",", "");
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(digits)) {
    return { fault: `strconv.ParseFloat: parsing ${JSON.stringify(digits)}: invalid syntax` };
  }
  const name = unit.trim().toLowerCase();
  const factor = factorOf(name);
  if (factor === undefined) return { fault: `unhandled size name: ${name}` };
  const bytes = Math.floor(Number(digits) * factor);
  return bytes >= 2 ** 64 ? { fault: `too large: ${text}` } : { bytes };
}

/** Writes `10 GB` and the like; a number below 10 keeps one decimal unless it is whole. */
export function formatByteCount(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const names = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  const power = Math.min(Math.floor(Math.log(bytes) / Math.log(1000) + 1e-12), names.length - 1);
  const value = Math.floor((bytes / 1000 ** power) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${names[power]}`;
}
