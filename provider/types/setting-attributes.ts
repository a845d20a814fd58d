// SPDX-License-Identifier: Apache-2.0
import type { Setting, Settings, SettingType, SimpleType, StateOfSettings } from "../../model/settings/index.ts";
import { type Attribute, attribute, checkDuration, type Validator } from "../framework/index.ts";
import { oneOf, shape } from "./value-rules.ts";

/** A table of settings as attributes of a Terraform type. */
type SettingAttributes<S extends Settings> = {
  readonly [K in keyof S as S[K] extends { readonly attribute: infer A extends string } ? A : never]: Attribute<
    S[K] extends { readonly attribute: infer A extends keyof StateOfSettings<S> }
      ? NonNullable<StateOfSettings<S>[A]>
      : never,
    S[K] extends { readonly required: true } ? "required" : "optional"
  >;
};

/** The attributes that Terraform has for settings, in their order. */
export function attributesOf<S extends Settings>(settings: S): SettingAttributes<S> {
  const rows = Object.values(settings).flatMap((row) =>
    row.attribute === undefined ? [] : [[row.attribute, attributeOf(row)] as const],
  );
  return Object.fromEntries(rows) as SettingAttributes<S>;
}

/** The state of them where none is set. */
export function unsetOf<S extends Settings>(settings: S): { readonly [A in keyof StateOfSettings<S>]: null } {
  const names = Object.keys(attributesOf(settings));
  return Object.fromEntries(names.map((name) => [name, null])) as { readonly [A in keyof StateOfSettings<S>]: null };
}

function attributeOf(row: Setting): Attribute {
  const { type } = row;
  const of = row.required ? attribute.required : attribute.optional;
  const description = describe(row);
  switch (type.kind) {
    case "flag":
      return of.bool(description);
    case "count":
      return of.integer(description);
    case "texts":
      return of.stringList(description);
    case "textMap":
      return of.stringMap(description);
    case "textsMap":
      return of.stringListMap(description);
    case "object":
      return of.nestedObject(description, attributesOf(type.fields));
    case "objects":
      return of.nestedList(description, attributesOf(type.fields));
    default:
      return of.string(description, { validators: rulesOf(type) });
  }
}

/** What a text has to be, as far as the value itself shows it. */
function rulesOf({ kind, choices }: SimpleType): readonly Validator<string>[] {
  if (kind === "duration") return [checkDuration];
  if (kind === "share")
    return [shape(/^([1-9]\d{0,2}|1000|([1-9]\d?|100)%)$/, "a whole number from 1 on, or a share such as `25%`")];
  if (kind === "cni") return [oneOf("flannel", "none", "custom")];
  return choices === undefined ? [] : [oneOf(...choices)];
}

/** What a row means, what it is otherwise, and whether it may change. */
export function describe({ description, type, required, fixed, otherwise, terraformDefault, ...row }: Setting): string {
  const standard = standardOf(type, terraformDefault ?? row.default);
  const words = standard ?? (otherwise === undefined ? undefined : `: ${otherwise}`);
  const sentences = [
    description,
    required || words === undefined ? "" : `Default${words}.`,
    fixed ? "Can't be changed." : "",
  ];
  return sentences.filter((sentence) => sentence !== "").join(" ");
}

/** A default that has nothing in it goes without saying. */
function standardOf(type: SettingType, standard: unknown): string | undefined {
  if (standard === undefined) return undefined;
  if (standard === "") return ": nothing";
  if (typeof standard === "boolean") return ` ${standard}`;
  if (typeof standard !== "object") return ` \`${standard}\``;
  const items = type.kind === "texts" && Array.isArray(standard) ? standard : [];
  return items.length === 0 ? undefined : ` ${items.map((item) => `\`${item}\``).join(", ")}`;
}
