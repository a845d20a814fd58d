// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { environmentReference } from "../../model/index.ts";
import { clusterSettings, fileRows } from "../../model/settings/index.ts";
import { customResourceDefinitions } from "../../operator/definitions/index.ts";
import { definitionFiles } from "../../scripts/definition-files.ts";

interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

interface Version {
  readonly schema: { readonly openAPIV3Schema: Schema };
  readonly subresources: Readonly<Record<string, unknown>>;
}

const definitions = customResourceDefinitions();
const none: Version = { schema: { openAPIV3Schema: {} }, subresources: {} };
const versionOf = (kind: string): Version => {
  const found = definitions.find(({ spec }) => (spec as { names: { kind: string } }).names.kind === kind);
  return (found?.spec as { readonly versions: readonly [Version] } | undefined)?.versions[0] ?? none;
};
const specOf = (kind: string): Schema => versionOf(kind).schema.openAPIV3Schema.properties?.spec ?? {};

function* nodes(schema: Schema, path: string): Generator<readonly [path: string, schema: Schema]> {
  yield [path, schema];
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* nodes(inner, `${path}.${name}`);
  if (schema.items !== undefined) yield* nodes(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) yield* nodes(schema.additionalProperties, `${path}{}`);
}

const everyNode = definitions.flatMap((definition) => {
  const [{ schema }] = (definition.spec as { versions: [Version] }).versions;
  return [...nodes(schema.openAPIV3Schema, definition.metadata.name)];
});

test("the files of the definitions are up to date", () => {
  for (const [file, text] of definitionFiles()) expect(readFileSync(file, "utf8"), file).toBe(text);
});

describe("the schema of a custom resource", () => {
  const allowed = new Set([
    ..."type description default properties required items additionalProperties enum pattern format".split(" "),
    ..."minLength maxLength minItems maxItems minimum maximum".split(" "),
    ..."x-kubernetes-preserve-unknown-fields x-kubernetes-int-or-string x-kubernetes-validations".split(" "),
  ]);

  test("has only keywords that a structural schema may have", () => {
    const others = everyNode.flatMap(([path, schema]) =>
      Object.keys(schema)
        .filter((keyword) => !allowed.has(keyword))
        .map((keyword) => `${path}: ${keyword}`),
    );
    expect(others).toEqual([]);
  });

  test("has a type wherever the API server does not let everything pass", () => {
    const free = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"];
    const untyped = everyNode.filter(
      ([, schema]) => schema.type === undefined && free.every((key) => !(key in schema)),
    );
    expect(untyped.map(([path]) => path)).toEqual([]);
  });

  test("explains every field", () => {
    const silent = everyNode.filter(
      ([path, { description }]) => description === undefined && !/\[\]$|\{\}$|\.(apiVersion|kind|metadata)$/.test(path),
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test("has patterns that the API server's regular expressions can be", () => {
    const patterns = everyNode.flatMap(([path, { pattern }]) => (typeof pattern === "string" ? [[path, pattern]] : []));
    expect(patterns.filter(([, pattern]) => /\(\?[=!<]|\\[1-9]/.test(pattern ?? ""))).toEqual([]);
  });
});

describe("the spec of a TalosCluster", () => {
  const spec = specOf("TalosCluster");
  const reference = environmentReference();
  const absent = { cluster: ["patchFiles"], operate: ["repair"], addons: [], backup: [] } as const;

  test("has every section of an environment but those that are files", () => {
    const sections = [...reference.sections.keys()].filter((name) => !["secrets", "outputs"].includes(name));
    expect(Object.keys(spec.properties ?? {})).toEqual(expect.arrayContaining(sections));
  });

  test.each(Object.entries(absent))("has every field of %s but those that name files: without %j", (name, without) => {
    const section = reference.sections.get(name) as Schema;
    const fields = Object.keys(section.properties ?? {}).filter(
      (field) => !(without as readonly string[]).includes(field),
    );
    expect(Object.keys(spec.properties?.[name]?.properties ?? {})).toEqual(fields);
  });

  test.each([...reference.kinds.keys()])("has every field of infrastructure and pools of kind %s", (kind) => {
    const parts = reference.kinds.get(kind) as ReadonlyMap<string, Schema>;
    const fieldsOf = (name: string) => Object.keys(parts.get(name)?.properties ?? {});
    const { infrastructure, controlPlane, workers } = spec.properties ?? {};
    expect(Object.keys(infrastructure?.properties ?? {})).toEqual(expect.arrayContaining(fieldsOf("infrastructure")));
    expect(Object.keys(controlPlane?.properties ?? {})).toEqual(expect.arrayContaining(fieldsOf("controlPlane")));
    expect(Object.keys(workers?.items?.properties ?? {})).toEqual(expect.arrayContaining(fieldsOf("workers[]")));
  });

  test("has the defaults of the settings", () => {
    const { cluster } = spec.properties ?? {};
    expect(cluster?.properties?.domain?.default).toBe(clusterSettings.domain.default);
    expect(cluster?.properties?.podCidrs?.default).toEqual(clusterSettings.podCidrs.default);
    expect(cluster?.default).toEqual({});
  });

  test("has no default of a field that only some kinds of infrastructure have", () => {
    const { zones, adminCidrs, wipe } = spec.properties?.infrastructure?.properties ?? {};
    expect([zones, adminCidrs, wipe].map((field) => field?.default)).toEqual([undefined, undefined, undefined]);
    expect(wipe?.description).toContain("Default: false.");
  });

  test("refuses changes of every setting that is fixed, and versions that go back", () => {
    const rules = spec.properties?.cluster?.["x-kubernetes-validations"] as readonly {
      rule: string;
      fieldPath: string;
    }[];
    const fixed = fileRows(clusterSettings).flatMap(([name, { fixed }]) => (fixed ? [`.${name}`] : []));
    const paths = rules.map(({ fieldPath }) => fieldPath);
    expect(fixed.length).toBeGreaterThan(3);
    expect(paths).toEqual(expect.arrayContaining([...fixed, ".talosVersion", ".kubernetesVersion"]));
  });
});

test("a pool is scaled through the scale subresource", () => {
  const { scale } = versionOf("TalosMachinePool").subresources as { scale: Readonly<Record<string, string>> };
  const status = versionOf("TalosMachinePool").schema.openAPIV3Schema.properties?.status?.properties ?? {};
  expect(specOf("TalosMachinePool").properties?.replicas?.type).toBe("integer");
  expect([status.replicas?.type, status.selector?.type]).toEqual(["integer", "string"]);
  expect(Object.values(scale)).toEqual([".spec.replicas", ".status.replicas", ".status.selector"]);
});
