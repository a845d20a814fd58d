// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createProgram } from "../cli/program.ts";
import { registrations } from "../cli/registrations.ts";
import { environmentJsonSchema, parseEnvironment } from "../talos/environment/index.ts";
import { testContext } from "./support/command-context.ts";
import { shellWords, usageFault } from "./support/command-line.ts";
import { codeBlocks, commandLines } from "./support/markdown.ts";
import { findProgram } from "./support/programs.ts";

const examples = readdirSync("examples", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith("README.md") && !name.includes("node_modules"))
  .map((name) => join("examples", name));
const pages = [
  "README.md",
  "ARCHITECTURE.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
  ...examples,
];
const sections = Object.keys(environmentJsonSchema().properties as object);
const program = createProgram(testContext(), registrations);

/** Programs that documents may name: others are a slip of the pen. */
const programs = new Set(
  "npm npx node mkdir cd export terraform tofu cdktf cdktn kubectl talosctl helm virsh age chmod rm docker aws git source echo".split(
    " ",
  ),
);

describe.each(pages)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  test("has only environments that can be loaded, where it shows any", () => {
    for (const { info, content } of codeBlocks(text).filter(({ language }) => language === "yaml")) {
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
    for (const line of commandLines(text)) {
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
    for (const line of codeBlocks(text)
      .filter(({ language }) => language === "sh")
      .flatMap(({ content }) => content.split("\n"))) {
      const [first, second, third = ""] = shellWords(line);
      if (first === undefined || first.startsWith("#")) continue;
      expect([...programs], line).toContain(first);
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

const talosctl = process.env.TALOSMITH_TALOSCTL ?? findProgram("talosctl");

describe.skipIf(talosctl === undefined)("talosctl", () => {
  const lines = pages
    .flatMap((page) => commandLines(readFileSync(page, "utf8")))
    .filter((line) => line.startsWith("talosctl "));

  test.each([...new Set(lines)])("knows what a page says of it: %s", (line) => {
    const [, ...words] = shellWords(line);
    const flags = words.filter((word) => word.startsWith("-")).map((word) => word.split("=", 1)[0] ?? "");
    const names = words.filter(
      (word, at) => !word.startsWith("-") && !/^(--talosconfig|-n|-o)$/.test(words[at - 1] ?? ""),
    );
    const group = /^(etcd|config|image|machineconfig)$/.test(names[0] ?? "");
    const help = execFileSync(talosctl ?? "", [...names.slice(0, group ? 2 : 1), "--help"]).toString();
    expect(help).toContain(`talosctl ${names.slice(0, group ? 2 : 1).join(" ")}`);
    for (const flag of flags) expect(help).toMatch(new RegExp(`(^|\\s)${flag}[\\s,]`, "m"));
  });
});

describe("troubleshooting", () => {
  const page = readFileSync("docs/troubleshooting.md", "utf8");
  const sources = ["talos", "cli", "constructs", "provider", "simulator/control"].flatMap((folder) =>
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
