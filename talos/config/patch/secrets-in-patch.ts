// SPDX-License-Identifier: Apache-2.0
import { documentTitle } from "../document/config-file.ts";
import { isSection, type Section, type Value } from "../document/value.ts";
import { hasPassword, redacted } from "../redact.ts";
import { observedRules } from "../rules.ts";
import { type FieldType, type Struct, structOf } from "../schema/schema.ts";
import { isHarmlessVariable, isHiddenField, isSecretField, isVariablesField } from "../schema/secret-fields.ts";
import { type Patch, parsePatch } from "./apply.ts";
import { pointerSteps } from "./json-patch.ts";

/** A place of a patch that holds a secret, by its path in the config. */
export interface SecretInPatch {
  readonly path: string;
  /** The same for programs: the document of the patch, from 0, and the keys in it. Operations (RFC 6902) have none. */
  readonly document: number;
  readonly keys: readonly PropertyKey[];
  /** False for fields that may as well hold something harmless, such as a service's environment. */
  readonly certain: boolean;
}

/** Where a visit of a patch has come to. */
interface At {
  readonly document: number;
  /** What comes before the path of a document of its own. */
  readonly title: string;
  readonly keys: readonly PropertyKey[];
}

/** Hidden when shown, but often no secret at all. */
const harmlessToo: ReadonlySet<string> = new Set([
  "content",
  "environment",
  "headers",
  "extraManifestHeaders",
  "config",
]);

/** Every secret that a patch would put into a config. Its values are not told. Throws when it is no patch. */
export function secretsInPatch(text: string, fileName: string): readonly SecretInPatch[] {
  const found: SecretInPatch[] = [];
  visitPatch(parsePatch(text, fileName, observedRules), found);
  return found;
}

function visitPatch(patch: Patch, found: SecretInPatch[]): void {
  if (patch.kind === "strategic") {
    for (const step of patch.steps) {
      if (step.kind !== "merge") continue;
      const title = step.document.kind === "v1alpha1" ? "" : `${documentTitle(step.document)} `;
      visitSection(step.document.section, step.document.struct, { document: step.index, title, keys: [] }, found);
    }
    return;
  }
  for (const { path, value } of patch.operations) {
    if (value === undefined) continue;
    // The value as it would stand in the config, so that both kinds of patch are looked at alike.
    const whole = pointerSteps(path).reduceRight<Value>((inner, step) => new Map([[step, inner]]), value);
    if (isSection(whole)) visitSection(whole, structOf("v1alpha1.Config"), { document: 0, title: "", keys: [] }, found);
  }
}

function visitSection(section: Section, struct: Struct, parent: At, found: SecretInPatch[]): void {
  for (const [key, value] of section) {
    const at = inside(parent, key);
    const field = struct.byKey.get(key);
    if (field === undefined) {
      // Of a kind that is not known, anything may be a secret.
      if (isHiddenField(struct.name, key) && holdsSomething(value)) found.push(secretAt(at, false));
      continue;
    }
    if (isVariablesField(struct.name, key)) visitVariables(value, at, found);
    else if (!isSecretField(struct.name, key)) visitValue(value, field.type, at, found);
    else if (holdsSomething(value)) found.push(secretAt(at, !harmlessToo.has(key)));
  }
}

function visitValue(value: Value, type: FieldType, at: At, found: SecretInPatch[]): void {
  if (typeof value === "string") {
    if (hasPassword(value)) found.push(secretAt(at, true));
  } else if (type.kind === "pointer") visitValue(value, type.to, at, found);
  else if (type.kind === "list") {
    const items = Array.isArray(value) ? value : isSection(value) ? [...value.values()] : [];
    for (const [index, item] of items.entries()) visitValue(item, type.of, inside(at, index), found);
  } else if (!isSection(value)) return;
  else if (type.kind === "map") for (const [key, inner] of value) visitValue(inner, type.of, inside(at, key), found);
  else if (type.kind === "struct") visitSection(value, structOf(type.name), at, found);
}

function visitVariables(value: Value, parent: At, found: SecretInPatch[]): void {
  if (!isSection(value)) return;
  for (const [name, text] of value) {
    const certain = typeof text === "string" && hasPassword(text);
    if (certain || (!isHarmlessVariable(name) && holdsSomething(text)))
      found.push(secretAt(inside(parent, name), certain));
  }
}

const inside = (at: At, key: PropertyKey): At => ({ ...at, keys: [...at.keys, key] });

function secretAt({ document, title, keys }: At, certain: boolean): SecretInPatch {
  const path = keys.reduce<string>(
    (before, key) =>
      typeof key === "number" ? `${before}[${key}]` : before === "" ? String(key) : `${before}.${String(key)}`,
    "",
  );
  return { path: `${title}${path}`, document, keys, certain };
}

function holdsSomething(value: Value): boolean {
  if (Array.isArray(value)) return value.some(holdsSomething);
  if (isSection(value)) return [...value.values()].some(holdsSomething);
  return value !== null && value !== "" && value !== redacted;
}
