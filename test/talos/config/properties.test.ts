// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatches, diffConfigs, MachineConfig, parsePatch, redactConfig } from "../../../talos/config/index.ts";
import { type FieldType, kindNames, kindType, structOf } from "../../../talos/config/schema/schema.ts";
import { contentFields, secretFields, variableFields } from "../../../talos/config/schema/secret-fields.ts";
import { stringifyYaml, type YamlValue } from "../../../talos/yaml/index.ts";
import { randomDocuments } from "../../support/random-documents.ts";

/** The config in Talos's own form. */
const normalized = (text: string): string => applyPatches(text, [parsePatch("", "patch")], "config");
const diff = (before: string, after: string) => diffConfigs(new MachineConfig(before), new MachineConfig(after));

test("a config in its own form is written the same again, for every kind of document", () => {
  fc.assert(
    fc.property(randomDocuments({ lists: true }), (text) => {
      const once = normalized(text);
      expect(normalized(once)).toBe(once);
    }),
    { numRuns: 400 },
  );
});

test("documents say the same before they are written and after they are read", () => {
  fc.assert(
    fc.property(randomDocuments({ lists: true }), (text) => {
      const config = new MachineConfig(text).patched([]);
      expect(config.documents).toEqual(new MachineConfig(config.text).documents);
    }),
    { numRuns: 200 },
  );
});

test("a config does not differ from itself, nor from its own form", () => {
  fc.assert(
    fc.property(randomDocuments({ lists: true }), (text) => {
      expect(diff(text, text)).toEqual([]);
      expect(diff(text, normalized(text))).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

/** Two kinds of links, addresses or volumes must not have the same name, or none; a pair of links has two. */
function isConflicting(...texts: readonly string[]): boolean {
  const [first, second] = texts.map((text) => ({
    kind: /^kind: (.*)$/m.exec(text)?.[1],
    names: [/^name: (.*)$/m.exec(text)?.[1] ?? '""', ...(/^peer:\n {4}name: (.*)$/m.exec(text)?.slice(1) ?? [])],
  }));
  return first?.kind !== second?.kind && first?.names.some((name) => second?.names.includes(name)) === true;
}

test("a patch without lists may be applied twice", () => {
  fc.assert(
    fc.property(randomDocuments({ lists: true }), randomDocuments({ lists: false }), (text, patch) => {
      const step = parsePatch(patch, "patch");
      fc.pre(!isConflicting(text, patch));
      const once = applyPatches(text, [step], "config");
      expect(applyPatches(once, [step], "config")).toBe(once);
      expect(applyPatches(text, [step, step], "config")).toBe(once);
    }),
    { numRuns: 300 },
  );
});

test("patching a config with itself, without lists, changes nothing", () => {
  fc.assert(
    fc.property(randomDocuments({ lists: false }), (text) => {
      const settled = normalized(text);
      expect(applyPatches(settled, [parsePatch(settled, "patch")], "config")).toBe(settled);
    }),
    { numRuns: 200 },
  );
});

test("redaction leaves no secret, in whichever document it stands", () => {
  const marker = "c2VjcmV0LXZhbHVl";
  const marked = (type: FieldType): YamlValue => {
    if (type.kind === "pointer") return marked(type.to);
    if (type.kind === "list") return [marked(type.of)];
    return type.kind === "map" || type.kind === "object" ? { key: marker } : marker;
  };
  /** Wraps a value in the way from a document down to a field of the type. */
  const place = (struct: string, value: YamlValue, seen: readonly string[]): YamlValue | undefined => {
    for (const kind of ["v1alpha1", ...kindNames]) {
      const type = kindType(kind);
      const head = kind === "v1alpha1" ? { version: "v1alpha1" } : { apiVersion: "v1alpha1", kind };
      if (type === undefined) continue;
      const inner = descend(type.struct.name, struct, value, seen);
      if (inner !== undefined) return { ...head, ...inner };
    }
    return undefined;
  };
  const descend = (
    from: string,
    to: string,
    value: YamlValue,
    seen: readonly string[],
  ): Record<string, YamlValue> | undefined => {
    if (from === to) return value as Record<string, YamlValue>;
    if (seen.includes(from)) return undefined;
    for (const { key, type } of structOf(from).fields) {
      const wrapped = wrap(type, to, value, [...seen, from]);
      if (wrapped !== undefined) return { [key]: wrapped };
    }
    return undefined;
  };
  const wrap = (type: FieldType, to: string, value: YamlValue, seen: readonly string[]): YamlValue | undefined => {
    if (type.kind === "pointer") return wrap(type.to, to, value, seen);
    if (type.kind === "struct") return descend(type.name, to, value, seen);
    if (type.kind !== "list" && type.kind !== "map") return undefined;
    const inner = wrap(type.of, to, value, seen);
    if (inner === undefined) return undefined;
    return type.kind === "list" ? [inner] : { key: inner };
  };
  for (const [struct, keys] of [secretFields, contentFields, variableFields].flatMap((table) =>
    Object.entries(table),
  )) {
    for (const key of keys) {
      const field = structOf(struct).byKey.get(key);
      expect(field, `${struct}.${key}`).toBeDefined();
      if (field === undefined) continue;
      const text = stringifyYaml(place(struct, { [key]: marked(field.type) }, []) ?? "");
      expect(text, `${struct}.${key}`).toContain(marker);
      expect(redactConfig(new MachineConfig(text)), `${struct}.${key}`).not.toContain(marker);
    }
  }
});
