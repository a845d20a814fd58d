// SPDX-License-Identifier: Apache-2.0

const factors: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  tb: 1e12,
  p: 1e15,
  pb: 1e15,
  e: 1e18,
  eb: 1e18,
  ki: 2 ** 10,
  kib: 2 ** 10,
  mi: 2 ** 20,
  mib: 2 ** 20,
  gi: 2 ** 30,
  gib: 2 ** 30,
  ti: 2 ** 40,
  tib: 2 ** 40,
  pi: 2 ** 50,
  pib: 2 ** 50,
  ei: 2 ** 60,
  eib: 2 ** 60,
};

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
  const factor = factors[name];
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
