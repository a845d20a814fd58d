// SPDX-License-Identifier: Apache-2.0
import type { Contract } from "../../version/index.ts";
import { compareKeys, isFormerBoolean, isSexagesimal, YamlPlain, type YamlValue } from "../../yaml/index.ts";
import type { ConfigRules } from "../rules.ts";
import { zeroWord } from "../schema/enums.ts";
import { type Field, type FieldType, type Struct, structOf, unknownKind } from "../schema/schema.ts";
import { isSection, isUnset, type Section, type Value } from "./value.ts";

/** A document in the order and with the omissions of the encoder of Talos, by the rules of a release. */
export function encodeDocument(section: Section, struct: Struct, { contract }: ConfigRules): YamlValue {
  return struct.name === unknownKind ? asItIs(section) : new Encoder(contract).struct(section, struct);
}

/** The section without the fields that are left out when it is written: what a reader of the text gets. */
export function writtenSection(section: Section, struct: Struct, { contract }: ConfigRules): Section {
  return struct.name === unknownKind ? section : new Encoder(contract).written(section, struct);
}

class Encoder {
  readonly #contract: Contract;

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  struct(section: Section, struct: Struct): YamlValue {
    const entries: [string, YamlValue][] = [];
    for (const field of struct.fields) {
      const value = section.get(field.key);
      if (this.#omits(field, value)) continue;
      entries.push([field.key, value === undefined ? this.#zero(field.type) : this.#encode(value, field.type)]);
    }
    return new Map(entries);
  }

  written(section: Section, struct: Struct): Section {
    return new Map(
      [...section].flatMap(([key, value]) => {
        const field = struct.byKey.get(key);
        return field === undefined || this.#omits(field, value) ? [] : [[key, this.#writtenValue(value, field.type)]];
      }),
    );
  }

  #writtenValue(value: Value, type: FieldType): Value {
    if (type.kind === "pointer") return this.#writtenValue(value, type.to);
    if (type.kind === "list" && Array.isArray(value)) return value.map((item) => this.#writtenValue(item, type.of));
    if (!isSection(value)) return value;
    if (type.kind === "struct") return this.written(value, structOf(type.name));
    return type.kind === "map"
      ? new Map([...value].map(([key, inner]) => [key, this.#writtenValue(inner, type.of)]))
      : value;
  }

  #omits(field: Field, value: Value | undefined): boolean {
    const { omitSince } = field;
    return omitSince !== undefined && this.#contract.includes(omitSince) && isUnset(value, field, this.#contract);
  }

  #encode(value: Value, type: FieldType): YamlValue {
    switch (type.kind) {
      case "pointer":
        return this.#encode(value, type.to);
      case "list":
        return Array.isArray(value) ? value.map((item) => this.#encode(item, type.of)) : [];
      case "map":
        return isSection(value) ? sorted(value, (inner) => this.#encode(inner, type.of)) : new Map();
      case "struct":
        return isSection(value) ? this.struct(value, structOf(type.name)) : new Map();
      case "args":
        return isSection(value) ? sorted(value, argument) : new Map();
      case "object":
      case "scalar":
      case "enum":
        return plain(value);
    }
  }

  /** What Talos writes for a field that is unset but always written. */
  #zero(type: FieldType): YamlValue {
    switch (type.kind) {
      case "pointer":
        return null;
      case "list":
        return [];
      case "map":
      case "args":
      case "object":
        return new Map();
      case "struct":
        return this.struct(new Map(), structOf(type.name));
      case "enum":
        return zeroWord(type.name);
      case "scalar":
        if (/^u?int/.test(type.scalar)) return 0;
        if (type.scalar === "fileMode") return new YamlPlain("0o0");
        return type.scalar === "bool" ? false : "";
    }
  }
}

/** An argument or several, in which Talos puts no word in quotes that only older YAML takes for another type. */
function argument(value: Value): YamlValue {
  if (value === "") return null;
  if (Array.isArray(value)) return value.map((item) => (typeof item === "string" ? bareWord(item) : plain(item)));
  return typeof value === "string" ? bareWord(value) : plain(value);
}

function bareWord(text: string): YamlValue {
  return isFormerBoolean(text) || isSexagesimal(text) ? new YamlPlain(text) : text;
}

/** Free-form values, every map with its keys in order. */
function plain(value: Value): YamlValue {
  if (Array.isArray(value)) return value.map(plain);
  return isSection(value) ? sorted(value, plain) : value;
}

/** With its keys in the order in which they were read. */
function asItIs(value: Value): YamlValue {
  if (Array.isArray(value)) return value.map(asItIs);
  return isSection(value) ? new Map([...value].map(([key, inner]) => [key, asItIs(inner)])) : value;
}

function sorted(section: Section, encode: (value: Value) => YamlValue): ReadonlyMap<string, YamlValue> {
  const keys = [...section.keys()].sort(compareKeys);
  return new Map(keys.map((key) => [key, encode(section.get(key) ?? null)]));
}
