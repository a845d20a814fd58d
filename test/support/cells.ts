// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface RecordedRun {
  readonly tool: string;
  readonly directory: string;
  readonly args: readonly string[];
  readonly code: number | null;
  readonly text: string;
}

/**
 * Notes down which types went through which phase under which tool, for the table in docs; see TALOSMITH_CELLS. Only
 * what the tool itself names counts: a resource that it created, changed, planned or complained about.
 */
export function recordCells(run: RecordedRun): void {
  const file = process.env.TALOSMITH_CELLS;
  if (!file) return;
  const cells = cellsOf(run).map(([type, phase]) => JSON.stringify({ tool: run.tool, type, phase }));
  for (const cell of new Set(cells)) appendFileSync(file, `${cell}\n`);
}

type Cell = readonly [type: string, phase: string];

/** What the tools write about a resource, and the phase that it shows. */
const signs: readonly (readonly [RegExp, string])[] = [
  [/(?<!data\.)(talosmith_\w+)\.[^\s:]+: Creation complete/g, "create"],
  [/(talosmith_\w+)\.[^\s:]+: Modifications complete/g, "update"],
  [/# (talosmith_\w+)\.\S+ (?:is tainted, so )?must be replaced/g, "replace planned"],
  [/(talosmith_\w+)\.[^\s:]+: Destruction complete/g, "destroy"],
];

function cellsOf(run: RecordedRun): Cell[] {
  const [command, ...options] = run.args;
  const { text, code } = run;
  const resources = (pattern: RegExp, phase: string): Cell[] =>
    [...text.matchAll(pattern)].map(([, type = ""]) => [`resource ${type}`, phase]);
  const cells = signs.flatMap(([pattern, phase]) => resources(pattern, phase));
  for (const [, type] of text.matchAll(/data\.(talosmith_\w+)\.[^\s:]+: Read complete/g))
    cells.push([`data ${type}`, "read"]);
  for (const [, type] of text.matchAll(/(?:ephemeral\.)?(talosmith_\w+)\.[^\s:]+: Opening complete/g))
    cells.push([`ephemeral ${type}`, "read"]);
  const written = typesIn(run.directory);
  if (code === 1)
    for (const [, data, type = ""] of text.matchAll(/with (data\.|ephemeral\.)?(talosmith_\w+)\./g))
      cells.push([`${data === undefined ? "resource" : data.slice(0, -1)} ${type}`, "error"]);
  if (code === 1)
    for (const [, name] of text.matchAll(/provider::talosmith::(\w+)/g)) cells.push([`function ${name}`, "error"]);
  if (command === "validate" && code === 0) cells.push(...written.map((type): Cell => [type, "validate"]));
  if (command === "apply" && code === 0)
    cells.push(...written.filter((type) => type.startsWith("function ")).map((type): Cell => [type, "read"]));
  if (command === "import" && code === 0)
    cells.push(
      ...written
        .filter((type) => options.some((option) => option.startsWith(`${type.split(" ")[1]}.`)))
        .map((type): Cell => [type, "import"]),
    );
  if (command !== "plan") return cells;
  const planned = [...resources(/# (talosmith_\w+)\.\S+ (?:will|must) be/g, "plan")];
  cells.push(...planned);
  if (/known after apply/.test(text)) cells.push(...planned.map(([type]): Cell => [type, "unknown values"]));
  if (!options.includes("-detailed-exitcode")) return cells;
  if (code === 2) cells.push(...planned.map(([type]): Cell => [type, "drift or change seen"]));
  const phase = options.includes("-refresh=false") ? "empty plan without refresh" : "empty plan";
  if (code === 0) cells.push(...written.map((type): Cell => [type, phase]));
  return cells;
}

function typesIn(directory: string): string[] {
  const text = readdirSync(directory)
    .filter((name) => name.endsWith(".tf"))
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");
  return [
    ...[...text.matchAll(/^\s*(resource|data|ephemeral) "(talosmith_\w+)"/gm)].map(
      ([, kind, name]) => `${kind} ${name}`,
    ),
    ...[...text.matchAll(/provider::talosmith::(\w+)/g)].map(([, name]) => `function ${name}`),
  ];
}
