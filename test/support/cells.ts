// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Notes down which types went through which phase under which tool, for the table in docs; see TALOSMITH_CELLS. */
export function recordCells(tool: string, directory: string, args: readonly string[], code: number | null): void {
  const file = process.env.TALOSMITH_CELLS;
  const phase = phaseOf(args, code);
  if (!file || phase === undefined) return;
  const text = readdirSync(directory)
    .filter((name) => name.endsWith(".tf"))
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");
  const types = [
    ...[...text.matchAll(/^\s*(resource|data|ephemeral) "(talosmith_\w+)"/gm)].map(
      ([, kind, name]) => `${kind} ${name}`,
    ),
    ...[...text.matchAll(/provider::talosmith::(\w+)/g)].map(([, name]) => `function ${name}`),
  ];
  const named =
    phase === "import" ? types.filter((type) => args.some((arg) => arg.startsWith(`${type.split(" ")[1]}.`))) : types;
  for (const type of new Set(named)) appendFileSync(file, `${JSON.stringify({ tool, type, phase })}\n`);
}

function phaseOf([command, ...options]: readonly string[], code: number | null): string | undefined {
  if (command === "plan") {
    if (code === 1) return "refused with an error";
    if (options.includes("-detailed-exitcode")) {
      if (code === 2) return "drift or change planned";
      return options.includes("-refresh=false") ? "empty plan without refresh" : "empty plan";
    }
    return "plan";
  }
  if (code !== 0) return undefined;
  return command === "apply" || command === "destroy" || command === "import" || command === "validate"
    ? command
    : undefined;
}
