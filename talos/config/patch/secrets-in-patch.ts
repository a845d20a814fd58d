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
  /** False for fields that may as well hold something harmless, such as a service's environment. */
  readonly certain: boolean;
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
      visitSection(step.document.section, step.document.struct, title, found);
    }
    return;
  }
  for (const { path, value } of patch.operations) {
    if (value === undefined) continue;
    // The value as it would stand in the config, so that both kinds of patch are looked at alike.
    const whole = pointerSteps(path).reduceRight<Value>((inner, step) => new Map([[step, inner]]), value);
    if (isSection(whole)) visitSection(whole, structOf("v1alpha1.Config"), "", found);
  }
}

function visitSection(section: Section, struct: Struct, prefix: string, found: SecretInPatch[]): void {
  for (const [key, value] of section) {
    const path = prefix === "" || prefix.endsWith(" ") ? `${prefix}${key}` : `${prefix}.${key}`;
    const field = struct.byKey.get(key);
    if (field === undefined) {
      // Of a kind that is not known, anything may be a secret.
      if (isHiddenField(struct.name, key) && holdsSomething(value)) found.push({ path, certain: false });
      continue;
    }
    if (isVariablesField(struct.name, key)) visitVariables(value, path, found);
    else if (!isSecretField(struct.name, key)) visitValue(value, field.type, path, found);
    else if (holdsSomething(value)) found.push({ path, certain: !harmlessToo.has(key) });
  }
}

function visitValue(value: Value, type: FieldType, path: string, found: SecretInPatch[]): void {
  if (typeof value === "string") {
    if (hasPassword(value)) found.push({ path, certain: true });
  } else if (type.kind === "pointer") visitValue(value, type.to, path, found);
  else if (type.kind === "list") {
    const items = Array.isArray(value) ? value : isSection(value) ? [...value.values()] : [];
    for (const [index, item] of items.entries()) visitValue(item, type.of, `${path}[${index}]`, found);
  } else if (!isSection(value)) return;
  else if (type.kind === "map") for (const [key, inner] of value) visitValue(inner, type.of, `${path}.${key}`, found);
  else if (type.kind === "struct") visitSection(value, structOf(type.name), path, found);
}

function visitVariables(value: Value, path: string, found: SecretInPatch[]): void {
  if (!isSection(value)) return;
  for (const [name, text] of value) {
    const certain = typeof text === "string" && hasPassword(text);
    if (certain || (!isHarmlessVariable(name) && holdsSomething(text)))
      found.push({ path: `${path}.${name}`, certain });
  }
}

function holdsSomething(value: Value): boolean {
  if (Array.isArray(value)) return value.some(holdsSomething);
  if (isSection(value)) return [...value.values()].some(holdsSomething);
  return value !== null && value !== "" && value !== redacted;
}
