// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { enumerations } from "../../talos/config/schema/enums.ts";
import { type Field, type FieldType, kindNames, kindType, structOf } from "../../talos/config/schema/schema.ts";
import { stringifyYaml, type YamlValue } from "../../talos/yaml/index.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const anyText = fc.string({ unit: fc.constantFrom("a", " ", "\n", ":", "#", "0", "~", "é", "'") });
const scalars: Readonly<Record<string, fc.Arbitrary<YamlValue>>> = {
  string: fc.oneof(word, anyText),
  word: fc.oneof(word, fc.constantFrom("yes", "off", "1", "1:30", "a: b", "'", "#x", "é")),
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

interface Choice {
  readonly lists: boolean;
  /** Text in one line that begins with no space: what talosctl can read back. @default any text */
  readonly words?: boolean;
}

function arbitraryOf(type: FieldType, depth: number, choice: Choice): fc.Arbitrary<YamlValue> {
  switch (type.kind) {
    case "pointer":
      return arbitraryOf(type.to, depth, choice);
    case "list":
      return fc.array(arbitraryOf(type.of, depth - 1, choice), { maxLength: 2 });
    case "map":
      return fc.dictionary(word, arbitraryOf(type.of, depth - 1, choice), { maxKeys: 3 });
    case "args":
      return fc.dictionary(word, fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 2 })), { maxKeys: 3 });
    case "object":
      return choice.lists ? freeForm : fc.dictionary(word, word, { maxKeys: 3 });
    case "enum":
      return fc.constantFrom(...(enumerations[type.name] ?? []));
    case "scalar": {
      const arbitrary = scalars[type.scalar === "string" && choice.words ? "word" : type.scalar];
      if (arbitrary === undefined) throw new Error(`no values for ${type.scalar}`);
      return arbitrary;
    }
    case "struct":
      return sectionOf(structOf(type.name).fields, depth - 1, choice);
  }
}

function sectionOf(fields: readonly Field[], depth: number, choice: Choice): fc.Arbitrary<Record<string, YamlValue>> {
  const usable = fields.filter((field) => depth > 0 || field.type.kind === "scalar");
  const chosen = usable.filter((field) => choice.lists || !holdsList(field.type));
  return fc
    .subarray(chosen, { maxLength: Math.min(6, chosen.length) })
    .chain((subset) =>
      fc
        .tuple(...subset.map((field) => arbitraryOf(field.type, depth, choice)))
        .map((values) => Object.fromEntries(subset.map((field, index) => [field.key, values[index] ?? null]))),
    );
}

function holdsList(type: FieldType): boolean {
  if (type.kind === "pointer") return holdsList(type.to);
  return type.kind === "list";
}

/** A document of any kind with random values of the right types, as YAML. */
export function randomDocuments(choice: Choice): fc.Arbitrary<string> {
  return fc.constantFrom("v1alpha1", ...kindNames).chain((kind) => {
    const type = kindType(kind);
    if (type === undefined) throw new Error(`no kind ${kind}`);
    const fields = type.struct.fields.filter(({ key }) => key !== "kind" && key !== "apiVersion");
    const head = kind === "v1alpha1" ? { version: "v1alpha1", debug: false } : { apiVersion: "v1alpha1", kind };
    // The ends of a pair of links are two, or the config cannot be read at all.
    const ends = kind === "VethConfig" ? { name: "veth0", peer: { name: "veth1" } } : {};
    return sectionOf(fields, 6, choice).map((section) => stringifyYaml({ ...head, ...section, ...ends }));
  });
}
