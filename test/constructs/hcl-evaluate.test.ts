// SPDX-License-Identifier: Apache-2.0
// What the evaluator says of a stack, and the same tables through the real terraform, which decides who is right.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluateStack, type JsonObject, unknown, type Value } from "../../constructs/index.ts";
import { cases, left, locals, refused } from "./hcl-expressions.ts";

const terraform = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "terraform"))
  .find((path) => existsSync(path));

const evaluated = (value: unknown) => {
  const [resource] = evaluateStack({ locals, resource: { some_type: { it: { value: value as string } } } });
  return resource?.values.value;
};

describe("an expression of a stack", () => {
  test.each(Object.entries(cases))("%s", (_name, [expression, value]) => {
    expect(evaluated(expression)).toEqual(value);
  });

  test.each([...refused, ...left])("is unknown: %s", (_name, expression) => {
    expect(evaluated(expression)).toBe(unknown);
  });

  test("may be a long chain", () => {
    expect(evaluated(`\${try({}${".a".repeat(20_000)}, 1)}`)).toBe(1);
  });

  test("never throws, whatever it is", () => {
    const words = [
      "${",
      "}",
      '"',
      "[",
      "]",
      "{",
      "(",
      ")",
      "for",
      "in",
      " ",
      "\n",
      "a",
      "local.all",
      ":",
      "=>",
      "=",
      "...",
      "?",
      "%{",
      "$${",
      "\\",
      "1",
      ",",
      ".",
      "*",
      "-",
      "if",
      "merge",
      "try",
      "null",
      "/*",
      "#",
      "each.key",
    ];
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...words)).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, (inner) => {
        evaluated(inner);
        evaluated(`\${${inner}}`);
      }),
      { numRuns: 500 },
    );
  });

  test("refuses locals that refer to each other", () => {
    const stack = {
      locals: { a: "${local.b}", b: ["${local.a}"] },
      resource: { t: { n: { value: "${try(local.a, 1)}" } } },
    };
    expect(() => evaluateStack(stack)).toThrow("locals refer to each other in a circle: a → b → a");
  });
});

/** Blocks with several instances, in the one type of resource that needs no provider. */
const blocks: JsonObject = {
  one: {
    input: "${local.cluster}",
    "//": {},
    depends_on: ["terraform_data.made"],
    lifecycle: { create_before_destroy: true },
  },
  by_map: {
    for_each: "${local.all}",
    input: { name: "${local.cluster}-${each.key}", address: "${each.value.address}" },
  },
  by_json: { for_each: { b: 1, a: "${local.cluster}" }, input: "${each.value}" },
  by_set: { for_each: '${toset(["b", "a\\"$${x}"])}', input: "${each.key}=${each.value}" },
  none: { for_each: "${local.empty}", input: 1 },
  counted: { count: 2, input: "${count.index}" },
  counted_by_expression: { count: "${length([local.workers])}", input: "${count.index}" },
  not_counted: { count: 0, input: 1 },
  made: {},
};

const instances = evaluateStack({ locals, resource: { terraform_data: blocks } });

describe("a block of a stack", () => {
  test("is as many resources as it has keys, each with its values", () => {
    expect(instances.map(({ address, key, values }) => [address, key, values.input])).toEqual([
      ["terraform_data.one", undefined, "lab"],
      ['terraform_data.by_map["cp-1"]', "cp-1", { name: "lab-cp-1", address: "10.5.0.2" }],
      ['terraform_data.by_map["cp-2"]', "cp-2", { name: "lab-cp-2", address: unknown }],
      ['terraform_data.by_map["w-10"]', "w-10", { name: "lab-w-10", address: "10.5.0.12" }],
      ['terraform_data.by_map["w-2"]', "w-2", { name: "lab-w-2", address: "10.5.0.4" }],
      ['terraform_data.by_json["a"]', "a", "lab"],
      ['terraform_data.by_json["b"]', "b", 1],
      ['terraform_data.by_set["a\\"$${x}"]', 'a"${x}', 'a"${x}=a"${x}'],
      ['terraform_data.by_set["b"]', "b", "b=b"],
      ["terraform_data.counted[0]", "0", 0],
      ["terraform_data.counted[1]", "1", 1],
      ["terraform_data.counted_by_expression[0]", "0", 0],
      ["terraform_data.made", undefined, undefined],
    ]);
  });

  test("has no values of what is for Terraform itself", () => {
    const meta = { provider: "a.b", provisioner: [], connection: {}, lifecycle: {}, depends_on: [], "//": {} };
    const [resource] = evaluateStack({ resource: { t: { n: { ...meta, name: "x" } } } });
    expect(resource).toEqual({ address: "t.n", type: "t", name: "n", key: undefined, values: { name: "x" } });
  });

  test.each([
    ["unknown keys", "${{ for x in terraform_data.made : x => 1 }}"],
    ["an unknown value", "${local.made}"],
    ["a list, which Terraform refuses", ["a"]],
  ])("is one resource with %s", (_name, for_each) => {
    const stack = { locals, resource: { t: { n: { for_each, name: "${each.key}", size: 1 } } } };
    expect(evaluateStack(stack)).toMatchObject([
      { address: "t.n", key: undefined, values: { name: unknown, size: 1 } },
    ]);
  });

  test.each<[string, JsonObject, Value]>([
    [
      "of a list",
      { for_each: [80, 443], content: { port: "${ports.value}", place: "${ports.key}" } },
      [
        { port: 80, place: 0 },
        { port: 443, place: 1 },
      ],
    ],
    [
      "with a name for its element",
      { for_each: { a: 1 }, iterator: "it", content: { name: "${it.key}-${local.cluster}" } },
      [{ name: "a-lab" }],
    ],
    [
      "that uses the key of its resource",
      { for_each: "${toset([each.key])}", content: { name: "${ports.value}" } },
      [{ name: "w" }],
    ],
    [
      "in another",
      {
        for_each: [1],
        content: { dynamic: { inner: { for_each: [2], content: { both: ["${ports.value}", "${inner.value}"] } } } },
      },
      [{ inner: [{ both: [1, 2] }] }],
    ],
    ["of something unknown", { for_each: "${local.made}", content: {} }, unknown],
  ])("has the blocks of a dynamic one %s", (_name, ports, value) => {
    const stack = { locals, resource: { t: { n: { for_each: { w: 1 }, dynamic: { ports } } } } };
    expect(evaluateStack(stack)[0]?.values).toEqual({ ports: value });
  });

  test("may have an attribute that is called dynamic", () => {
    const dynamic = { routing: { enabled: true } };
    expect(evaluateStack({ resource: { t: { n: { dynamic } } } })[0]?.values).toEqual({ dynamic });
  });
});

/** What a plan has of a value: the known part of it, and `true` for each unknown one. */
function planned(value: Value): { readonly after: unknown; readonly afterUnknown: unknown } {
  if (value === unknown) return { after: undefined, afterUnknown: true };
  if (typeof value !== "object" || value === null) return { after: value, afterUnknown: false };
  const parts = Object.entries(value).map(([key, item]) => [key, planned(item)] as const);
  if (Array.isArray(value))
    return {
      after: parts.map(([, { after }]) => after ?? null),
      afterUnknown: parts.map(([, part]) => part.afterUnknown),
    };
  const known = parts.filter(([, { after }]) => after !== undefined).map(([key, { after }]) => [key, after]);
  const marked = parts.filter(([, part]) => part.afterUnknown !== false).map(([key, part]) => [key, part.afterUnknown]);
  return { after: Object.fromEntries(known), afterUnknown: Object.fromEntries(marked) };
}

interface ShownPlan {
  readonly output_changes: { readonly cases: { readonly after: unknown; readonly after_unknown: unknown } };
  readonly resource_changes: readonly {
    readonly address: string;
    readonly change: {
      readonly after: { readonly input?: unknown };
      readonly after_unknown: { readonly input?: unknown };
    };
  }[];
}

function planOf(stack: JsonObject): ShownPlan {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-evaluate-"));
  const run = (...args: string[]) =>
    execFileSync(terraform ?? "terraform", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, CHECKPOINT_DISABLE: "1" },
    });
  try {
    writeFileSync(join(folder, "main.tf.json"), JSON.stringify(stack, null, 2));
    run("init", "-no-color", "-input=false", "-backend=false");
    run("plan", "-no-color", "-input=false", "-out=plan");
    return JSON.parse(run("show", "-json", "plan")) as ShownPlan;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.runIf(terraform !== undefined)("the real terraform plans the same values and the same instances", () => {
  const value = Object.fromEntries(Object.entries(cases).map(([name, [expression]]) => [name, expression]));
  const { output_changes, resource_changes } = planOf({
    locals,
    resource: { terraform_data: blocks },
    output: { cases: { value } },
  } as JsonObject);
  const ours = Object.fromEntries(Object.entries(cases).map(([name, [, expected]]) => [name, planned(expected)]));
  const after = output_changes.cases.after as Record<string, unknown>;
  const afterUnknown = output_changes.cases.after_unknown as Record<string, unknown>;
  const theirs = Object.keys(cases).map((name) => [
    name,
    { after: after[name], afterUnknown: afterUnknown[name] ?? false },
  ]);
  expect(Object.fromEntries(theirs)).toEqual(ours);

  const made = instances.map(({ address, values }) => [address, planned(values.input ?? null)]);
  const found = resource_changes.map(({ address, change }) => [
    address,
    { after: change.after.input ?? null, afterUnknown: change.after_unknown.input ?? false },
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(made));
});
