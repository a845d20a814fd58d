// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

const cell = z.strictObject({
  date: z.iso.date(),
  result: z.enum(["seen", "failed", "not seen"]),
  /** What was seen, or why not, in one line. */
  text: z.string(),
  seconds: z.number().optional(),
});
export type Cell = z.infer<typeof cell>;

const columns = { simulator: "simulator", real: "real Talos and Kubernetes", machine: "virtual machine", aws: "AWS" };
const row = z.strictObject({
  operation: z.string(),
  simulator: cell.optional(),
  real: cell.optional(),
  machine: cell.optional(),
  aws: cell.optional(),
});
export const record = z.array(row);
export type TrialRecord = z.infer<typeof record>;
type Column = keyof typeof columns;

/** The rows of the given operations, with new results in one column. Results of operations that are gone are left out. */
export function withResults(
  old: TrialRecord,
  names: readonly string[],
  column: Column,
  results: ReadonlyMap<string, Cell>,
): TrialRecord {
  return names.map((operation) => {
    const before = old.find((each) => each.operation === operation) ?? { operation };
    const result = results.get(operation);
    return result === undefined ? before : { ...before, [column]: result };
  });
}

const plain = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();

function cellText(of: Cell | undefined): string {
  if (of === undefined) return "not seen";
  const took = of.seconds === undefined ? "" : `, ${of.seconds.toFixed(0)} s`;
  return of.result === "seen" ? `${of.date}${took}` : `${of.result} (${of.date})`;
}

/** The table of all operations, then what was seen of each. */
export function tableOf(rows: TrialRecord): string {
  const keys = Object.keys(columns) as Column[];
  const lines = rows.map((each) => `| ${[each.operation, ...keys.map((key) => cellText(each[key]))].join(" | ")} |`);
  const details = rows.flatMap((each) =>
    keys.flatMap((key) => {
      const found = each[key];
      return found === undefined
        ? []
        : [`| ${each.operation} | ${columns[key]} | ${found.result}: ${plain(found.text)} |`];
    }),
  );
  return [
    `| operation | ${Object.values(columns).join(" | ")} |`,
    `|---|${"---|".repeat(keys.length)}`,
    ...lines,
    "",
    "| operation | where | result |",
    "|---|---|---|",
    ...details,
  ].join("\n");
}

const begin = "<!-- written by npm run test:real: begin -->";
const end = "<!-- written by npm run test:real: end -->";

/** The page with the table of these rows in the place between its two marks. Throws where a mark is missing. */
export function pageWith(page: string, rows: TrialRecord): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/tried.md: expected the lines "${begin}" and "${end}"`);
  return `${page.slice(0, from)}${begin}\n${tableOf(rows)}\n${page.slice(to)}`;
}
