// SPDX-License-Identifier: Apache-2.0

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Reads `1h30m`, `1.5s` and the like into nanoseconds, or undefined when it is no duration. */
export function parseGoDuration(text: string): bigint | undefined {
  const match = /^([-+]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.exec(text);
  if (match === null) return text === "0" ? 0n : undefined;
  let total = 0n;
  for (const [, number = "", unit = ""] of text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole = "", fraction = ""] = number.split(".");
    const scale = units[unit] ?? 0n;
    total += BigInt(whole === "" ? "0" : whole) * scale;
    if (fraction !== "") total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return text.startsWith("-") ? -total : total;
}

/** Writes nanoseconds as Go does: `168h0m0s`, `1.5s`, `10ms`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (value < 1_000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return `${sign}${decimal(value, 1_000n)}µs`;
  if (value < 1_000_000_000n) return `${sign}${decimal(value, 1_000_000n)}ms`;
  const minutes = value / 60_000_000_000n;
  const seconds = `${decimal(value % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, scale: bigint): string {
  const fraction = (value % scale)
    .toString()
    .padStart(scale.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" ? String(value / scale) : `${value / scale}.${fraction}`;
}
