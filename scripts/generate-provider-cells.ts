// SPDX-License-Identifier: Apache-2.0
// Writes docs/provider-tests.md: which type went through which phase under which tool. The cells are noted down by the
// acceptance tests themselves: TALOSMITH_CELLS=cells.jsonl npm run test:all, then this script with the file's name.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attribute } from "../provider/framework/index.ts";
import { talosmithProvider } from "../provider/types/index.ts";
import { trapsSection } from "../test/support/traps.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("name the file that the tests wrote, see the head of this script");

const phases = [
  "validate",
  "plan",
  "unknown values",
  "create",
  "read",
  "empty plan without refresh",
  "empty plan",
  "drift or change seen",
  "update",
  "replace planned",
  "import",
  "error",
  "destroy",
];
/** What a kind of type has no such thing as. */
const onlyOfResources = [
  "plan",
  "unknown values",
  "create",
  "drift or change seen",
  "update",
  "replace planned",
  "import",
  "destroy",
];
const none: Readonly<Record<string, readonly string[]>> = {
  resource: ["read"],
  data: onlyOfResources,
  ephemeral: onlyOfResources,
  function: onlyOfResources,
};
const marks = { terraform: "T", tofu: "O" } as const;

const cells = new Map<string, Set<string>>();
const lines = readFileSync(file, "utf8").trim().split("\n");
for (const line of lines) {
  const { tool, type, phase } = JSON.parse(line) as { tool: keyof typeof marks; type: string; phase: string };
  const key = `${type}|${phase}`;
  cells.set(key, (cells.get(key) ?? new Set()).add(marks[tool]));
}
// All of them, so that an empty row shows what no test has touched.
const { resources, dataSources, ephemeralResources, functions } = talosmithProvider({
  workingDirectory: "/",
  environment: {},
  daemonCommand: ["node"],
});
const types = [
  ...resources.map(({ name }) => `resource ${name}`),
  ...dataSources.map(({ name }) => `data ${name}`),
  ...ephemeralResources.map(({ name }) => `ephemeral ${name}`),
  ...functions.map(({ name }) => `function ${name}`),
];
/** What a single type has no such thing as: nothing in it replaces it, or it can't be imported. */
const notOf = new Map(
  resources.map(({ name, attributes, import: importer }) => [
    `resource ${name}`,
    [
      ...(Object.values<Attribute>(attributes).some(({ replaces }) => replaces) ? [] : ["replace planned"]),
      ...(importer === undefined ? ["import"] : []),
    ],
  ]),
);
const rows = types.map((type) => {
  const found = phases.map((phase) => {
    if (none[type.split(" ")[0] ?? ""]?.includes(phase) || notOf.get(type)?.includes(phase)) return "–";
    return [...(cells.get(`${type}|${phase}`) ?? [])].sort().reverse().join(" ");
  });
  return `| ${type} | ${found.join(" | ")} |`;
});

const day = new Date().toISOString().slice(0, 10);
const page = join(import.meta.dirname, "..", "docs", "provider-tests.md");
writeFileSync(
  page,
  `# What the provider's acceptance tests run

Each cell was seen with the real binary over the simulator: T = terraform, O = OpenTofu, – = there is no such thing. Written
by \`scripts/generate-provider-cells.ts\` from what the tools themselves said about each resource while the acceptance tests ran; nothing
is added by hand. An empty cell was not seen. Last: ${day}, ${lines.length} notes.

| type | ${phases.join(" | ")} |
|---|${phases.map(() => "---").join("|")}|
${rows.join("\n")}

${trapsSection()}`,
);
