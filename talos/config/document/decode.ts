// SPDX-License-Identifier: Apache-2.0
import { nearestWord } from "../../nearest-word.ts";
import {
  compareKeys,
  scalarValue,
  type YamlMapping,
  type YamlNode,
  YamlPlain,
  type YamlScalar,
} from "../../yaml/index.ts";
import type { ConfigRules } from "../rules.ts";
import { type FieldType, type Struct, structOf } from "../schema/schema.ts";
import { isHiddenField, isHiddenName, isVariablesField } from "../schema/secret-fields.ts";
import { type Decoded, decodeEnumeration, decodeScalar, scalarTag, shortened } from "./scalars.ts";
import type { Section, Value } from "./value.ts";

export interface DecodeResult {
  readonly section: Section;
  /** Values of the wrong kind, in Talos's words, each with its place. */
  readonly faults: readonly ValueFault[];
  /** Keys that the schema does not know. */
  readonly unknown: readonly UnknownKey[];
  /** The unknown keys with their values, in the shape of the document; undefined when there are none. */
  readonly unknownTree: Section | undefined;
  /** Elements of lists and maps that are null, where the rules refuse that. */
  readonly nullElements: readonly ValueFault[];
}

export interface ValueFault {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface UnknownKey {
  readonly path: string;
  readonly key: YamlScalar;
  /** The keys that the section does know. */
  readonly known: readonly string[];
}

/** Decodes one document. Everything is collected rather than thrown, so that all faults can be told at once. */
export function decodeDocument(node: YamlMapping, struct: Struct, rules: ConfigRules): DecodeResult {
  const decoder = new Decoder(rules);
  const { section, unknown } = decoder.struct(node, struct, "");
  return {
    section,
    faults: decoder.faults,
    unknown: decoder.unknownKeys,
    unknownTree: unknown,
    nullElements: decoder.nullElements,
  };
}

/** A decoded value, and what of it was not known. */
interface Outcome {
  readonly value: Value | undefined;
  readonly unknown?: Value | undefined;
}

const nothing: Outcome = { value: undefined };

class Decoder {
  readonly faults: ValueFault[] = [];
  readonly unknownKeys: UnknownKey[] = [];
  readonly nullElements: ValueFault[] = [];
  readonly #rules: ConfigRules;

  constructor(rules: ConfigRules) {
    this.#rules = rules;
  }

  struct(node: YamlMapping, struct: Struct, path: string): { section: Section; unknown: Section | undefined } {
    const section: Section = new Map();
    const unknown: Section = new Map();
    for (const { key, value } of node.entries) {
      const inner = path === "" ? key.text : `${path}.${key.text}`;
      const field = struct.byKey.get(key.text);
      if (field === undefined) {
        // What may be a misspelled secret is not shown.
        const near = nearestWord(key.text, [...struct.byKey.keys()]);
        const secret = near !== undefined && (isHiddenField(struct.name, near) || isVariablesField(struct.name, near));
        unknown.set(key.text, secret || isHiddenName(key.text) ? hidden : asWritten(value));
        this.unknownKeys.push({ path: inner, key, known: [...struct.byKey.keys()] });
        continue;
      }
      const outcome = this.#decode(value, field.type, inner);
      if (outcome.value !== undefined) section.set(key.text, outcome.value);
      if (outcome.unknown !== undefined) unknown.set(key.text, outcome.unknown);
    }
    const sorted = [...unknown].sort(([left], [right]) => compareKeys(left, right));
    return { section, unknown: unknown.size === 0 ? undefined : new Map(sorted) };
  }

  #decode(node: YamlNode, type: FieldType, path: string): Outcome {
    if (isNull(node) && type.kind !== "object") return nothing;
    switch (type.kind) {
      case "pointer":
        return this.#decode(node, type.to, path);
      case "scalar":
        return this.#scalar(node, type, path, (scalar) => decodeScalar(scalar, type.scalar));
      case "enum":
        return this.#scalar(node, type, path, (scalar) => decodeEnumeration(scalar, type.name));
      case "list":
        return this.#list(node, type, path);
      case "map":
        return this.#map(node, type, path);
      case "args":
        return this.#args(node, type, path);
      case "object":
        if (isNull(node)) return nothing;
        return node.kind === "mapping" ? { value: freeForm(node) } : this.#mismatch(node, type, path);
      case "struct": {
        if (node.kind !== "mapping") return this.#mismatch(node, type, path);
        const { section, unknown } = this.struct(node, structOf(type.name), path);
        return { value: section, unknown };
      }
    }
  }

  #scalar(node: YamlNode, type: FieldType, path: string, decode: (scalar: YamlScalar) => Decoded): Outcome {
    if (node.kind !== "scalar") return this.#mismatch(node, type, path);
    const decoded = decode(node);
    if ("value" in decoded) return decoded;
    this.#fault(node, path, decoded.fault);
    return nothing;
  }

  #list(node: YamlNode, type: FieldType & { kind: "list" }, path: string): Outcome {
    if (node.kind !== "sequence") return this.#mismatch(node, type, path);
    // Go leaves a null out where scalars are listed.
    const scalars = type.of.kind === "scalar" || type.of.kind === "enum";
    const present = scalars ? node.items.filter((item) => !isNull(item)) : node.items;
    const items = present.map((item, index) => this.#element(item, type.of, `${path}[${index}]`));
    const unknown = items.map((item) => item.unknown).filter((item) => item !== undefined);
    return {
      value: items.map((item) => item.value ?? zeroOf(type.of)).filter((item) => item !== undefined),
      unknown: unknown.length === 0 ? undefined : unknown,
    };
  }

  #map(node: YamlNode, type: FieldType & { kind: "map" }, path: string): Outcome {
    if (node.kind !== "mapping") return this.#mismatch(node, type, path);
    const section: Section = new Map();
    const unknown: Section = new Map();
    for (const { key, value } of node.entries) {
      const outcome = this.#element(value, type.of, `${path}.${key.text}`);
      const decoded = outcome.value ?? zeroOf(type.of);
      if (decoded !== undefined) section.set(key.text, decoded);
      if (outcome.unknown !== undefined) unknown.set(key.text, outcome.unknown);
    }
    return { value: section, unknown: unknown.size === 0 ? undefined : unknown };
  }

  /** A section that is an element may not be null, for Talos would hold a pointer to nothing. */
  #element(node: YamlNode, type: FieldType, path: string): Outcome {
    if (isNull(node) && type.kind === "pointer" && this.#rules.refusesNullElements) {
      const { line, column } = node;
      this.nullElements.push({ path, line, column, message: `null value is not allowed at ${JSON.stringify(path)}` });
    }
    return this.#decode(node, type, path);
  }

  #args(node: YamlNode, type: FieldType, path: string): Outcome {
    if (node.kind !== "mapping") return this.#mismatch(node, type, path);
    const section: Section = new Map();
    for (const { key, value } of node.entries) {
      if (value.kind === "scalar") section.set(key.text, isNull(value) ? "" : value.text);
      else if (value.kind === "sequence" && value.items.every((item) => item.kind === "scalar")) {
        section.set(
          key.text,
          value.items.map((item) => (item.kind === "scalar" ? item.text : "")),
        );
      } else this.#fault(value, `${path}.${key.text}`, "arg value must be a string or list of strings");
    }
    return { value: section };
  }

  #mismatch(node: YamlNode, type: FieldType, path: string): Outcome {
    const found =
      node.kind === "scalar"
        ? `${scalarTag(node)} \`${shortened(node.text)}\``
        : node.kind === "sequence"
          ? "!!seq"
          : "!!map";
    this.#fault(node, path, `cannot construct ${found} into ${typeName(type, this.#rules)}`);
    return nothing;
  }

  #fault({ line, column }: YamlNode, path: string, message: string): void {
    this.faults.push({ path, line, column, message });
  }
}

function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && scalarValue(node) === null;
}

/** What an element that was null becomes; undefined when it is dropped. */
function zeroOf(type: FieldType): Value | undefined {
  return type.kind === "scalar" && type.scalar === "string" ? "" : undefined;
}

/** A value without a schema, as it stands. */
export function freeForm(node: YamlNode): Value {
  if (node.kind === "scalar") return scalarValue(node);
  if (node.kind === "sequence") return node.items.map(freeForm);
  return freeSection(node);
}

export function freeSection(node: YamlMapping): Section {
  return new Map(node.entries.map((entry) => [entry.key.text, freeForm(entry.value)]));
}

/** A value for showing: scalars without quotes stay as the user wrote them. */
function asWritten(node: YamlNode): Value {
  if (node.kind === "scalar") return node.plain ? new YamlPlain(node.text) : node.text;
  if (node.kind === "sequence") return node.items.map(asWritten);
  return new Map(
    // Nobody knows where an unknown section belongs, so whatever is a secret anywhere is hidden.
    node.entries.map(({ key, value }) => [key.text, isHiddenName(key.text) ? hidden : asWritten(value)]),
  );
}

const hidden = new YamlPlain("******");

/** Lists that are types of their own in Talos, by what they hold. */
const namedLists: Readonly<Record<string, string>> = {
  "v1alpha1.AdmissionPluginConfig": "v1alpha1.AdmissionPluginConfigList",
  "v1alpha1.Device": "v1alpha1.NetworkDeviceList",
  "v1alpha1.Vlan": "v1alpha1.VlanList",
};

/** How Talos calls a type in its messages. */
function typeName(type: FieldType, rules: ConfigRules): string {
  switch (type.kind) {
    case "pointer":
      return typeName(type.to, rules);
    case "list":
      if (type.of.kind === "pointer" && type.of.to.kind === "struct" && type.of.to.name in namedLists) {
        return namedLists[type.of.to.name] ?? "";
      }
      return `[]${type.of.kind === "pointer" ? "*" : ""}${typeName(type.of, rules)}`;
    case "map":
      return `map[string]${type.of.kind === "pointer" ? "*" : ""}${typeName(type.of, rules)}`;
    case "scalar":
      return type.scalar === "base64" ? "string" : type.scalar;
    case "enum":
      return `nethelpers.${type.name}`;
    case "struct":
      return type.name;
    case "object":
      return rules.freeFormType;
    case "args":
      return rules.argumentsType;
  }
}
