// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatches, diffConfigs, MachineConfig, parsePatch, redactConfig } from "../../../talos/config/index.ts";
import { enumerations } from "../../../talos/config/schema/enums.ts";
import { type Field, type FieldType, kindNames, kindType, structOf } from "../../../talos/config/schema/schema.ts";
import { contentFields, secretFields, variableFields } from "../../../talos/config/schema/secret-fields.ts";
import { stringifyYaml, type YamlValue } from "../../../talos/yaml/index.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const scalars: Readonly<Record<string, fc.Arbitrary<YamlValue>>> = {
  string: fc.oneof(word, fc.string({ unit: fc.constantFrom("a", " ", "\n", ":", "#", "0", "~", "é", "'") })),
  manifest: word,
  bool: fc.boolean(),
  int: fc.integer(),
  int32: fc.integer(),
  uint: fc.nat(),
  uint8: fc.nat(255),
  uint16: fc.nat(65_535),
  uint32: fc.nat(),
  uint64: fc.nat(),
  duration: fc.nat(1_000_000).map((seconds) => `${seconds}s`),
  expression: fc.constantFrom('disk.transport == "nvme"', "link.mtu > 1u"),
  url: word.map((host) => `https://${host}.example.org:6443`),
  address: fc.ipV4(),
  prefix: fc.ipV4().map((address) => `${address}/24`),
  addressPort: fc.ipV4().map((address) => `${address}:51820`),
  hardwareAddress: fc.constantFrom("00:11:22:33:44:55", "aa:bb:cc:dd:ee:ff"),
  base64: fc.uint8Array({ minLength: 1, maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  fileMode: fc.constantFrom(0o600, 0o644),
  diskSize: fc.constantFrom("10 GB", "5 MB"),
  sizeCondition: fc.constantFrom(">= 10GB", "1TB"),
  byteSize: fc.constantFrom("10GB", "1GiB"),
  size: fc.constantFrom("10GB", "50%"),
  portRange: fc.constantFrom<YamlValue>(80, "100-200"),
};
const freeForm = fc.dictionary(word, fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word, { maxLength: 2 })), {
  maxKeys: 3,
});

function arbitraryOf(type: FieldType, depth: number, lists: boolean): fc.Arbitrary<YamlValue> {
  switch (type.kind) {
    case "pointer":
      return arbitraryOf(type.to, depth, lists);
    case "list":
      return fc.array(arbitraryOf(type.of, depth - 1, lists), { maxLength: 2 });
    case "map":
      return fc.dictionary(word, arbitraryOf(type.of, depth - 1, lists), { maxKeys: 3 });
    case "args":
      return fc.dictionary(word, fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 2 })), { maxKeys: 3 });
    case "object":
      return lists ? freeForm : fc.dictionary(word, word, { maxKeys: 3 });
    case "enum":
      return fc.constantFrom(...(enumerations[type.name] ?? []));
    case "scalar": {
      const arbitrary = scalars[type.scalar];
      if (arbitrary === undefined) throw new Error(`no values for ${type.scalar}`);
      return arbitrary;
    }
    case "struct":
      return sectionOf(structOf(type.name).fields, depth - 1, lists);
  }
}

function sectionOf(fields: readonly Field[], depth: number, lists: boolean): fc.Arbitrary<Record<string, YamlValue>> {
  const usable = fields.filter((field) => depth > 0 || field.type.kind === "scalar");
  const chosen = usable.filter((field) => lists || !holdsList(field.type));
  return fc
    .subarray(chosen, { maxLength: Math.min(6, chosen.length) })
    .chain((subset) =>
      fc
        .tuple(...subset.map((field) => arbitraryOf(field.type, depth, lists)))
        .map((values) => Object.fromEntries(subset.map((field, index) => [field.key, values[index] ?? null]))),
    );
}

function holdsList(type: FieldType): boolean {
  if (type.kind === "pointer") return holdsList(type.to);
  return type.kind === "list";
}

/** A document of any kind, as YAML. */
function documents(lists: boolean): fc.Arbitrary<string> {
  return fc.constantFrom("v1alpha1", ...kindNames).chain((kind) => {
    const type = kindType(kind);
    if (type === undefined) throw new Error(`no kind ${kind}`);
    const fields = type.struct.fields.filter(({ key }) => key !== "kind" && key !== "apiVersion");
    const head = kind === "v1alpha1" ? { version: "v1alpha1", debug: false } : { apiVersion: "v1alpha1", kind };
    return sectionOf(fields, 6, lists).map((section) => stringifyYaml({ ...head, ...section }));
  });
}

/** The config in Talos's own form. */
const normalized = (text: string): string => applyPatches(text, [parsePatch("", "patch")], "config");
const diff = (before: string, after: string) => diffConfigs(new MachineConfig(before), new MachineConfig(after));

test("a config in its own form is written the same again, for every kind of document", () => {
  fc.assert(
    fc.property(documents(true), (text) => {
      const once = normalized(text);
      expect(normalized(once)).toBe(once);
    }),
    { numRuns: 400 },
  );
});

test("documents say the same before they are written and after they are read", () => {
  fc.assert(
    fc.property(documents(true), (text) => {
      const config = new MachineConfig(text).patched([]);
      expect(config.documents).toEqual(new MachineConfig(config.text).documents);
    }),
    { numRuns: 200 },
  );
});

test("a config does not differ from itself, nor from its own form", () => {
  fc.assert(
    fc.property(documents(true), (text) => {
      expect(diff(text, text)).toEqual([]);
      expect(diff(text, normalized(text))).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test("a patch without lists may be applied twice", () => {
  fc.assert(
    fc.property(documents(true), documents(false), (text, patch) => {
      const step = parsePatch(patch, "patch");
      const once = applyPatches(text, [step], "config");
      expect(applyPatches(once, [step], "config")).toBe(once);
      expect(applyPatches(text, [step, step], "config")).toBe(once);
    }),
    { numRuns: 300 },
  );
});

test("patching a config with itself, without lists, changes nothing", () => {
  fc.assert(
    fc.property(documents(false), (text) => {
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
