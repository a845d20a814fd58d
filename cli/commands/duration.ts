// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError } from "commander";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A duration as Go's tools take it (`90s`, `1h30m`, `0`), in milliseconds. */
export function duration(text: string): number {
  if (text === "0") return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    throw new InvalidArgumentError("expected a duration such as 30s, 15m or 1h30m");
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ""] ?? 0), 0);
}
