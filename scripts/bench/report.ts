// SPDX-License-Identifier: Apache-2.0
import type { Curve } from "./curve.ts";
import type { Profile } from "./profile.ts";
import type { Measurement, Row } from "./row.ts";

/** How a row ended. */
export interface Result extends Partial<Measurement> {
  readonly name: string;
  readonly anchorName: string;
  readonly budget: number;
  /** Undefined: the anchor is not on this machine, or the row failed. */
  readonly ratio?: number;
  readonly verdict: "kept" | "OVER" | "SKIPPED: anchor not installed" | "FAILED";
}

export interface Report {
  readonly date: string;
  /** Processors and the release of Node. */
  readonly machine: string;
  readonly results: readonly Result[];
  readonly curves: readonly Curve[];
  readonly profiles: readonly Profile[];
}

export function resultOf(row: Row, measured: Measurement | Error): Result {
  const known = { name: row.name, anchorName: row.anchor, budget: row.budget };
  if (measured instanceof Error) return { ...known, verdict: "FAILED", note: firstLine(measured.message) };
  const { ours, anchor } = measured;
  if (anchor === undefined) return { ...known, ...measured, verdict: "SKIPPED: anchor not installed" };
  const ratio = ours / anchor;
  return { ...known, ...measured, ratio, verdict: ratio <= row.budget ? "kept" : "OVER" };
}

export const tableHead = "| what | ours | anchor | ratio | budget | |\n|---|---|---|---|---|---|";

export function lineOf({ name, anchorName, budget, ours, anchor, unit = "", ratio, verdict, note }: Result): string {
  const value = (number: number | undefined) =>
    number === undefined || Number.isNaN(number)
      ? "–"
      : `${number < 10 ? number.toFixed(2) : Math.round(number)} ${unit}`;
  const remark = note === undefined ? verdict : `${verdict}; ${note.replaceAll("|", "\\|")}`;
  return `| ${name} | ${value(ours)} | ${value(anchor)} (${anchorName}) | ${ratio?.toFixed(3) ?? "–"} | ≤ ${budget} | ${remark} |`;
}

/** The growth of each kind of work, one line for each. */
export function curveTable(curves: readonly Curve[]): string {
  const sizes = curves[0]?.points.map(({ machines }) => machines) ?? [];
  const lines = curves.map(
    ({ name, points }) =>
      `| ${name} | ${points.map(({ milliseconds }) => `${Math.round(milliseconds)} ms`).join(" | ")} |`,
  );
  const head = `| time for | ${sizes.map((size) => `${size} machines`).join(" | ")} |`;
  return [head, `|---|${sizes.map(() => "---|").join("")}`, ...lines].join("\n");
}

/** The dearest modules of each kind of work, one line for each kind. */
export function profileTable(profiles: readonly Profile[]): string {
  const lines = profiles.map(({ name, milliseconds, parts }) => {
    const shares = parts.map(({ module, share }) => `${module} ${Math.round(share * 100)} %`);
    return `| ${name} | ${Math.round(milliseconds)} ms | ${shares.join(", ")} |`;
  });
  return ["| work | busy | self time by module |", "|---|---|---|", ...lines].join("\n");
}

/** docs/benchmarks.md. */
export function markdownOf({ date, machine, results, curves, profiles }: Report): string {
  return `# Benchmarks

Written by \`npm run bench -- --write\` on ${date}: ${machine}. Each promise is a ratio to an anchor that is measured beside it
in the same run; \`benchmarks.json\` has the same for machines.

${tableHead}
${results.map(lineOf).join("\n")}

## Growth

A synth in a process of its own, start included; for the rest processor time, in a world without network and waiting.

${curveTable(curves)}

## Where the time goes

By Node's own profiler (\`--cpu-prof\`), over all processes of the work, waiting left out. It slows what it measures: compare shares, not times.

${profileTable(profiles)}
`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
