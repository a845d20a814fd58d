// SPDX-License-Identifier: Apache-2.0
import type { entryPoints, PublicMember, PublicName } from "./public-api.ts";

const introduction = `# API

What the package gives to TypeScript, generated from its types by \`npm run generate:api\`.
[examples/constructs-in-typescript](../examples/constructs-in-typescript/README.md) shows an app.
Members in bold are required. Members that a class inherits are listed with the class that it extends; those of the CDK are
in the CDK's documentation.
`;

const modules = {
  talosmith: "The two calls of a `main.ts`.",
  "talosmith/constructs": "Constructs, and the types of their signatures.",
} as const satisfies Record<keyof typeof entryPoints, string>;

/** docs/api.md. */
export function apiPage(api: readonly PublicName[]): string {
  const parts = Object.entries(modules).map(([module, sentence]) => {
    const names = api.filter((each) => each.module === module);
    const values = names.filter(({ kind }) => kind === "class" || kind === "function");
    const types = names.filter((each) => !values.includes(each));
    return [`## ${module}\n\n${sentence}\n`, ...[...values, ...types].map(nameSection)].join("\n");
  });
  return [introduction, ...parts].join("\n");
}

function nameSection({ name, kind: of, text, signature, members }: PublicName): string {
  const head = `### ${name}\n\n${text}\n\n\`${signature}\`\n`;
  const constructors = members.filter(({ kind }) => kind === "constructor");
  const rows = members
    .filter(({ kind }) => kind !== "constructor")
    .map((each) => memberRow(each, of !== "class" && each.kind === "property" && !each.optional));
  const create = constructors.map((each) => `\`${each.signature.replace("constructor", `new ${name}`)}\`\n`);
  const table = rows.length === 0 ? [] : [`| member | type | |\n|---|---|---|\n${rows.join("\n")}\n`];
  return [head, ...create, ...table].join("\n");
}

function memberRow({ name, kind, signature, text, ...comment }: PublicMember, required: boolean): string {
  const own = name.split(".").at(-1) ?? name;
  const rest = signature.slice(signature.indexOf(own) + own.length).replace(/^\??(: |\(\): (?=.))?/, "");
  const type = cell(kind === "method" ? signature : signature.startsWith("get ") ? rest.replace(/^\(\): /, "") : rest);
  const usual = comment.default === undefined ? "" : ` Default: ${cell(comment.default.replace(/^- /, ""))}.`;
  const words = `${cell(text)}${usual}`;
  return `| ${required ? `**${name}**` : name} | \`${type}\` | ${words} |`;
}

/** In a table, a bar ends a cell, also between backticks. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
