// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "cdktn";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { EnvironmentStack, type JsonObject, printStack } from "../../../constructs/index.ts";
import { EnvironmentError, parseEnvironment } from "../../../model/index.ts";

const root = new URL("../../../environments/", import.meta.url);
const read = (name: string) => readFileSync(new URL(`${name}.yaml`, root), "utf8");
const documents = ["lab", "local", "production", "sandbox", "staging"].map((name) => parse(read(name)) as Data);
const base = read("base");

type Data = Record<string, unknown>;
type Path = readonly string[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [...(path.length === 0 ? [] : [path]), ...inner.flatMap(([key, entry]) => pathsOf(entry, [...path, key]))];
}

function replace(data: Data, where: number, value: unknown): void {
  const paths = pathsOf(data);
  const path = paths[where % Math.max(paths.length, 1)];
  if (path === undefined) return;
  const parent = path.slice(0, -1).reduce<unknown>((inner, step) => (inner as Data)[step], data);
  (parent as Data)[path.at(-1) ?? ""] = value;
}

const awkward = fc.constantFrom<unknown>(
  "10.0.0.0/8",
  "0.0.0.0/0",
  "10.0.0.300",
  "1.36",
  "v9",
  "${x}",
  "%{x}",
  "../x",
  "4GiB",
  "",
  -1,
  1e9,
  2 ** 60,
  [],
  {},
);
const junk = fc.oneof(
  awkward,
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.constant(null),
  fc.boolean(),
  fc.array(fc.string()),
  fc.object(),
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-fuzz-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("either refuses a spoilt file with its faults, or makes a stack and HCL of it", () => {
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.nat(documents.length - 1),
      fc.array(fc.tuple(fc.nat(), junk), { minLength: 1, maxLength: 2 }),
      (index, changes) => {
        const data = structuredClone(documents[index] ?? {});
        for (const [where, value] of changes) replace(data, where, value);
        const text = stringify(data);
        try {
          const environment = parseEnvironment(
            "sample",
            (file) => ({ "environments/sample.yaml": text, "environments/base.yaml": base })[file],
          );
          const stack = new EnvironmentStack(new App({ outdir: folder, stackTraces: false }), environment);
          const json = JSON.parse(JSON.stringify(stack.toTerraform())) as JsonObject;
          expect(printStack(json, { environment: "sample", source: environment.file }).size).toBeGreaterThan(2);
          accepted += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(EnvironmentError);
        }
      },
    ),
    { numRuns: 1500, seed: 20261116 },
  );
  expect(accepted).toBeGreaterThan(10);
});
