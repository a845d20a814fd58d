// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type JsonObject, printStack } from "../../constructs/index.ts";
import { listEnvironments } from "../../model/index.ts";
import { allEnvironments, repositoryRoot, withSynth } from "./project.ts";

const terraform = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "terraform"))
  .find((path) => existsSync(path));
const run = (directory: string, ...args: string[]) =>
  execFileSync(terraform ?? "terraform", args, {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CHECKPOINT_DISABLE: "1" },
  });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-hcl-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(directory: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
}

const filesOf = (root: string, name: string) =>
  withSynth(root, [name], (_, text) =>
    printStack(JSON.parse(text(name)) as JsonObject, { environment: name, source: `environments/${name}.yaml` }),
  );

describe("the HCL in terraform/", () => {
  it.each(listEnvironments(repositoryRoot))("is what `talosmith synth %s --hcl` writes", (name) => {
    const directory = join(repositoryRoot, "terraform", name);
    const files = filesOf(repositoryRoot, name);
    if (process.env.UPDATE_GOLDEN === "1") write(directory, files);
    const present = readdirSync(directory).filter((file) => file.endsWith(".tf"));
    expect(present).toEqual([...files.keys()]);
    for (const [file, text] of files) expect(readFileSync(join(directory, file), "utf8"), file).toBe(text);
  });

  it.each(["metal", "docker", "pods"])("is for the example %s what test/golden has", (name) => {
    const directory = join(repositoryRoot, "test/golden/hcl", name);
    const files = filesOf(join(repositoryRoot, "examples/"), name);
    if (process.env.UPDATE_GOLDEN === "1") write(directory, files);
    expect(readdirSync(directory)).toEqual([...files.keys()]);
    for (const [file, text] of files) expect(readFileSync(join(directory, file), "utf8"), file).toBe(text);
  });

  it("leaves nothing of the JSON out", () => {
    for (const { name, root } of allEnvironments()) {
      const hcl = [...filesOf(root, name).values()].join("\n");
      withSynth(root, [name], (_, text) => {
        const stack = JSON.parse(text(name)) as { resource: Record<string, object>; output: object };
        for (const [type, byId] of Object.entries(stack.resource))
          for (const id of Object.keys(byId)) expect(hcl).toContain(`resource "${type}" "${id}" {`);
        for (const output of Object.keys(stack.output)) expect(hcl).toContain(`output "${output}" {`);
      });
    }
  });
});

it("refuses a stack with parts that it cannot write, rather than leave them out: an apply would destroy them", () => {
  const stack = { ...nasty, module: { vpc: { source: "./vpc" } }, variable: { size: { type: "string" } } };
  expect(() => printStack(stack, { environment: "nasty", source: "a test" })).toThrow(
    "nasty: found module, variable in the stack, which cannot be written as HCL",
  );
});

/** Everything that is hard to write in HCL, in resources that need no provider. */
const nasty: JsonObject = {
  terraform: { backend: { local: { path: "../../../state/x.tfstate" } }, required_version: ">= 1.10.0" },
  resource: {
    terraform_data: Object.fromEntries(
      Object.entries({
        quotes: 'say "no" \\ \\n {curly} [square]',
        template: "literal $${x} and %%{ if } and $ and %",
        dollars: "cost $5, $$, 100%",
        reference: "is ${terraform_data.quotes.output} here",
        alone: "${terraform_data.quotes.output}",
        nested_call: '${join("-", ["a", "b"])}',
        braces_in_quotes: '${join("}", ["{", "\\"}", "a${"}"}b", "$${x"])} and "more"',
        braces_alone: '${[for text in ["}", "{{"] : "${text}}"]}',
        braces_in_texts: '${[for x in ["}", "{{", "a \\"} ${"{ ${1} }"} $${"] : "${x} }"]}',
        lines: "first: 1\n  second: \"x\"\n\nthird: 'y'\n",
        tabs: "a\tb\r\nc\n",
        trailing: "a \nb\n",
        indented: "  a\nb\n",
        heredoc_end: "a\nEOT\nb\n",
        unicode: "ünïcödé ✓\nzwei\n",
        control: "bell \u0007 end",
        json: '{"a":[1,2,{"b":"${terraform_data.quotes.output}"}],"c":"x"}',
        json_numbers: '{"9":1,"10":2}',
        json_sorted: '{"10":2,"9":1}',
        angle: '{"a":"<b>&"}',
        list: ["a", "b", ["c"], []],
        mixed: { plain: 1, "with-dash": true, "with.dot": null, "1st": [], nested: { deep: { deeper: ["x\ny\n"] } } },
        long: Array.from({ length: 30 }, (_, index) => `item-${index}`),
        number: 12345678901234,
        empty: "",
        object: {},
      }).map(([id, input]) => [id, { input, "//": { metadata: { path: id } } }]),
    ),
  },
  output: { all: { value: "${terraform_data.mixed.output}", description: 'Some "words".' } },
};

describe.runIf(terraform !== undefined)("the HCL printer, in the real terraform", () => {
  it("writes what terraform fmt leaves alone", () => {
    for (const { name, root } of allEnvironments()) write(join(folder, name), filesOf(root, name));
    write(join(folder, "nasty"), printStack(nasty, { environment: "nasty", source: "a test" }));
    expect(run(folder, "fmt", "-check", "-diff", "-recursive")).toBe("");
  });

  it("keeps every value as the JSON has it, however hard it is to write", () => {
    const planned = (directory: string) => {
      run(directory, "init", "-no-color", "-input=false", "-backend=false");
      run(directory, "plan", "-no-color", "-input=false", "-out=plan");
      const shown = JSON.parse(run(directory, "show", "-json", "plan")) as { planned_values: { root_module: unknown } };
      return shown.planned_values.root_module;
    };
    const { terraform: _, ...withoutBackend } = nasty;
    const [json, hcl] = [join(folder, "json"), join(folder, "hcl")];
    write(json, new Map([["main.tf.json", JSON.stringify(withoutBackend)]]));
    const files = new Map(printStack(nasty, { environment: "nasty", source: "a test" }));
    files.delete("versions.tf");
    write(hcl, files);
    expect(planned(hcl)).toEqual(planned(json));
  });
});
