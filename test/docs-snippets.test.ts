// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createProgram } from "../cli/program.ts";
import { registrations } from "../cli/registrations.ts";
import { environmentJsonSchema, parseEnvironment } from "../model/index.ts";
import { testContext } from "./support/command-context.ts";
import { shellWords, usageFault } from "./support/command-line.ts";
import { pageItems, pageNames, programs } from "./support/pages.ts";
import { findProgram } from "./support/programs.ts";

const pages = pageNames();
const snippets = (page: string) => pageItems(page).filter(({ command }) => !command);
const commands = (page: string) => pageItems(page).flatMap(({ command, text }) => (command ? [text] : []));
const sections = Object.keys(environmentJsonSchema().properties as object);
const program = createProgram(testContext(), registrations);

describe.each(pages)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  test("has only environments that can be loaded, where it shows any", () => {
    for (const { info, text: content } of snippets(page).filter(({ language }) => language === "yaml")) {
      if (info !== "") continue;
      const keys = Object.keys((parse(content) ?? {}) as object);
      expect(
        keys.filter((key) => !sections.includes(key)),
        content,
      ).toEqual([]);
      expect(() => load(content), content).not.toThrow();
    }
  });

  test("has only commands of ours that there are, used as they can be", () => {
    for (const line of commands(page)) {
      const [, ours] = /^(?:npx )?talosmith (.+)$/.exec(line) ?? [];
      if (ours !== undefined) expect(usageFault(program, ours), line).toBeUndefined();
    }
  });

  test("names in running text only commands and flags that there are", () => {
    for (const [, line = ""] of text.matchAll(/`(?:npx )?talosmith ([a-z][^`…]*)`/g)) {
      const fault = usageFault(program, line);
      // A name alone, without what it is for, is no command to type.
      expect(fault === undefined || fault.includes(" wants "), `${line}: ${fault}`).toBe(true);
    }
  });

  test("uses scripts that there are, and programs that are known", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object };
    for (const line of commands(page)) {
      const [first, second, third = ""] = shellWords(line);
      // `(cd …)` is a shell of its own.
      expect(programs, line).toContain(first?.replace("(", ""));
      if (first === "npm" && second === "run") expect(Object.keys(scripts), line).toContain(third);
    }
  });
});

/** A part of an environment is one with what is missing put beside it. */
function load(content: string) {
  const given = parse(content) as Record<string, unknown>;
  const machines =
    given.controlPlane === undefined && given.controlPlaneRef === undefined && !content.includes("kind: metal");
  const file = [
    given.infrastructure === undefined ? "infrastructure: { kind: simulated }" : "",
    machines ? "controlPlane: { count: 1 }" : "",
    content,
  ].join("\n");
  return parseEnvironment("sample", (path) => (path === "environments/sample.yaml" ? file : undefined));
}

/** Programs of others whose help tells which commands and flags they have. */
const others: readonly {
  readonly name: string;
  readonly path?: string | undefined;
  readonly help: string;
  /** Commands that have commands of their own. */
  readonly groups?: RegExp;
  /** Where the flags are that a command has and its own help leaves out. */
  readonly common?: string;
}[] = [
  {
    name: "talosctl",
    path: process.env.TALOSMITH_TALOSCTL,
    help: "--help",
    groups: /^(etcd|config|image|machineconfig)$/,
  },
  { name: "kubectl", help: "--help", groups: /^(config|rollout|create|create secret)$/, common: "options" },
  { name: "terraform", help: "-help", groups: /^(state|workspace|providers)$/, common: "plan -help" },
  { name: "tofu", help: "-help", groups: /^(state|workspace|providers)$/, common: "plan -help" },
  { name: "helm", help: "--help", groups: /^(repo|get|show)$/ },
  { name: "age", help: "--help" },
];

const linesOf = (name: string) => [
  ...new Set(pages.flatMap((page) => commands(page)).filter((line) => line.startsWith(`${name} `))),
];
const named = others.filter(({ name }) => linesOf(name).length > 0);

describe.each(named)("$name", ({ name, path = findProgram(name), help, groups, common }) => {
  if (path === undefined) console.warn(`SKIPPED: what pages say of ${name}, because it is missing`);

  test.skipIf(path === undefined).each(linesOf(name))("knows it: %s", (line) => {
    const [, ...words] = shellWords(line);
    const flags = words.filter((word) => word.startsWith("-")).map((word) => word.split("=", 1)[0] ?? "");
    const names = words.filter(
      (word, at) =>
        !/^[-<]/.test(word) && !/^(--talosconfig|--kubeconfig|--namespace|-n|-o|-i)$/.test(words[at - 1] ?? ""),
    );
    const depth = 1 + [1, 2].filter((words) => groups?.test(names.slice(0, words).join(" "))).length;
    const command = names.slice(0, depth);
    const ask = (...args: readonly string[]) => {
      const { stdout, stderr } = spawnSync(path ?? "", args, { encoding: "utf8" });
      return `${stdout}${stderr}`;
    };
    const told = ask(...command, help);
    // terraform has "[global options]" between the two.
    if (command.length > 0) expect(told).toMatch(new RegExp(`${name}( \\[.*?\\])? ${command.join(" ")}(?![\\w-])`));
    const known = common === undefined ? told : `${told}${ask(...common.split(" "))}`;
    for (const flag of flags) expect(known).toMatch(new RegExp(`(^|[\\s,])${flag}(?![\\w-])`, "m"));
  });
});

describe("troubleshooting", () => {
  const page = readFileSync("docs/troubleshooting.md", "utf8");
  const sources = [
    "talos",
    "model",
    "engine",
    "workspace",
    "watch",
    "cli",
    "constructs",
    "provider",
    "simulator/control",
  ].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("gen/"))
      .map((name) => readFileSync(join(folder, name), "utf8")),
  );

  test("has a part for every code of an error", () => {
    const [, union = ""] =
      /export type TalosErrorCode =([\s\S]*?);/.exec(readFileSync("talos/errors.ts", "utf8")) ?? [];
    const codes = [...union.matchAll(/"([a-z-]+)"/g)].map(([, code]) => code ?? "");
    expect(codes.length).toBeGreaterThan(8);
    const parts = [...page.matchAll(/^## ([a-z-]+)$/gm)].map(([, part]) => part);
    for (const code of codes) expect(parts).toContain(code);
  });

  test("explains messages that are really in the program", () => {
    const messages = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, message]) => message ?? "");
    expect(messages.length).toBeGreaterThan(20);
    for (const message of messages)
      expect(
        sources.some((source) => source.includes(message)),
        message,
      ).toBe(true);
  });
});
