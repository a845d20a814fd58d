// SPDX-License-Identifier: Apache-2.0
import { encodeConfig, parseConfig } from "./document/config-file.ts";
import { isSection, type Section, type Value } from "./document/value.ts";
import { type FieldType, type Struct, structOf } from "./schema/schema.ts";
import { isSecretField } from "./schema/secret-fields.ts";

/** What stands in place of a secret. Talos reads it as a key that was left out on purpose. */
export const redacted = "******";

/** The same config with every secret replaced, fit for showing and logging. Throws when the config cannot be read. */
export function redactConfig(text: string, fileName: string): string {
  const documents = parseConfig(text, fileName);
  return encodeConfig(
    documents.map((document) => ({ ...document, section: redactSection(document.section, document.struct) })),
  );
}

function redactSection(section: Section, struct: Struct): Section {
  return new Map(
    [...section].map(([key, value]) => {
      const field = struct.byKey.get(key);
      if (field === undefined || value === "") return [key, value];
      return [key, isSecretField(struct.name, key) ? hide(value) : redactValue(value, field.type)];
    }),
  );
}

function redactValue(value: Value, type: FieldType): Value {
  if (type.kind === "pointer") return redactValue(value, type.to);
  if (type.kind === "list" && Array.isArray(value)) return value.map((item) => redactValue(item, type.of));
  if (!isSection(value)) return value;
  if (type.kind === "map") return new Map([...value].map(([key, inner]) => [key, redactValue(inner, type.of)]));
  return type.kind === "struct" ? redactSection(value, structOf(type.name)) : value;
}

/** Keeps the shape, so that the result is still a config. */
function hide(value: Value): Value {
  if (Array.isArray(value)) return value.map(hide);
  if (isSection(value)) return new Map([...value].map(([key, inner]) => [key, hide(inner)]));
  return redacted;
}
