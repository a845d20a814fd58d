// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { documentKinds } from "./kinds.ts";
import { kubernetesTypes } from "./kubernetes.ts";
import { networkLinksTypes } from "./network-links.ts";
import { networkServicesTypes } from "./network-services.ts";
import { runtimeTypes } from "./runtime.ts";
import { storageTypes } from "./storage.ts";
import { v1alpha1ClusterTypes } from "./v1alpha1-cluster.ts";
import { v1alpha1MachineTypes } from "./v1alpha1-machine.ts";
import { v1alpha1NetworkTypes } from "./v1alpha1-network.ts";

/*
 * The notation of the tables, one field to a line, in the order in which Talos writes them:
 *
 *   Name key[?|?14] type [replace[=minor]|by=key|replaceBy=key] [keepEmpty=minor] [@minor]
 *   ...type
 *
 * Name is the field's name inside Talos, which appears in its error messages. `?` leaves the field out when it is
 * empty, `?14` when it is empty and written by the rules of 1.14 or later. Types: a scalar (see
 * scalars.ts), `object` (free form), `args`, `enum:Name`, the name of another table, or one of these with `*` (held
 * by pointer, so that a zero value counts as set), `[]` (list) or `{}` (map) before it. Then how a patch treats the
 * field when that is not the usual way (`replace=14`: from 1.14 on), from when on an empty list is written all the same, and the minor release that brought it. `...type` takes in its fields. The table
 * of a document begins with the fields of meta.Meta, which stand there once for all.
 */

export type FieldType =
  | { readonly kind: "scalar"; readonly scalar: string }
  | { readonly kind: "enum"; readonly name: string }
  | { readonly kind: "object" }
  | { readonly kind: "args" }
  | { readonly kind: "struct"; readonly name: string }
  | { readonly kind: "pointer"; readonly to: FieldType }
  | { readonly kind: "list"; readonly of: FieldType }
  | { readonly kind: "map"; readonly of: FieldType };

export type MergeRule =
  | { readonly kind: "usual" }
  | { readonly kind: "replace"; readonly since: number }
  /** List elements that agree in this field are merged with each other. */
  | { readonly kind: "by"; readonly key: string }
  /** List elements that agree in this field are replaced. */
  | { readonly kind: "replace-by"; readonly key: string };

export interface Field {
  readonly name: string;
  readonly key: string;
  readonly type: FieldType;
  /** Left out when it is empty: from this minor release on; undefined for never. */
  readonly omitSince: number | undefined;
  /** An empty list counts as set, and is written: from this minor release on. */
  readonly keepEmptySince?: number;
  readonly merge: MergeRule;
  /** Minor release that brought it; 9 stands for 1.9 and all before. */
  readonly since: number;
}

/** The oldest minor release that is told apart: 1.9 and all before. */
const everyRelease = 9;

/** Sections that count as unset when these fields are, whatever else they say. */
export const decisiveFields: Readonly<Record<string, readonly string[]>> = {
  "block.EncryptionSpec": ["provider", "keys"],
};

export interface Struct {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byKey: ReadonlyMap<string, Field>;
}

/** The type of documents whose kind is not known: what names them, beside which they may say anything. */
export const unknownKind = "unknown.Document";

/** What documents share. */
const commonTypes: Readonly<Record<string, string>> = {
  "meta.Meta": `
    MetaAPIVersion apiVersion? string
    MetaKind kind string
  `,
  "meta.CertificateAndKey": `
    Cert cert? string
    Key key? string
  `,
  "x509.pair": `
    Crt crt base64
    Key key base64
  `,
  "x509.certificate": "Crt crt base64",
  "x509.key": "Key key base64",
  [unknownKind]: `
    MetaAPIVersion apiVersion string
    MetaKind kind string
    MetaName name? string
  `,
};

const tables: Readonly<Record<string, string>> = {
  ...commonTypes,
  ...v1alpha1MachineTypes,
  ...v1alpha1ClusterTypes,
  ...v1alpha1NetworkTypes,
  ...networkLinksTypes,
  ...networkServicesTypes,
  ...kubernetesTypes,
  ...storageTypes,
  ...runtimeTypes,
};

const documentTypes: ReadonlySet<string> = new Set(Object.values(documentKinds).map(([type]) => type));
const structs = new Map<string, Struct>();

/** The description of a type. Tables are read when first asked for. */
export function structOf(name: string): Struct {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const table = tables[name];
  if (table === undefined) throw new TalosError("internal", `the schema has no type ${name}`);
  const lines = table.split("\n").map((line) => line.trim());
  const shared = documentTypes.has(name) ? structOf("meta.Meta").fields : [];
  const fields = [...shared, ...lines.filter((line) => line !== "").flatMap(parseLine)];
  const struct = { name, fields, byKey: new Map(fields.map((field) => [field.key, field])) };
  structs.set(name, struct);
  return struct;
}

/** The type of a kind of document, or undefined when the kind is not known. The v1alpha1 document has kind "v1alpha1". */
export function kindType(kind: string): { readonly struct: Struct; readonly since: number } | undefined {
  if (kind === "v1alpha1") return { struct: structOf("v1alpha1.Config"), since: 9 };
  const entry = Object.hasOwn(documentKinds, kind) ? documentKinds[kind] : undefined;
  return entry === undefined ? undefined : { struct: structOf(entry[0]), since: entry[1] };
}

/** Every kind but v1alpha1. */
export const kindNames: readonly string[] = Object.keys(documentKinds);

function parseLine(line: string): readonly Field[] {
  if (line.startsWith("...")) return structOf(line.slice(3)).fields;
  const [name = "", keyAndMark = "", type = "", ...rest] = line.split(" ");
  const [, key = "", mark = ""] = /^([^?]+)(\?*(?:14)?)$/.exec(keyAndMark) ?? [];
  const since = rest.find((word) => word.startsWith("@"));
  const keep = rest.find((word) => word.startsWith("keepEmpty="));
  const rule = rest.find((word) => word !== since && word !== keep);
  return [
    {
      name,
      key,
      type: parseType(type),
      omitSince: omission(mark),
      ...(keep !== undefined && { keepEmptySince: Number(keep.split("=")[1]) }),
      merge: parseRule(rule),
      since: since === undefined ? everyRelease : Number(since.slice(1)),
    },
  ];
}

function omission(mark: string): Field["omitSince"] {
  if (mark === "") return undefined;
  return Number(mark.slice(1)) || everyRelease;
}

function parseRule(word: string | undefined): MergeRule {
  if (word === undefined) return { kind: "usual" };
  const [name, key = ""] = word.split("=");
  if (name === "by") return { kind: "by", key };
  return name === "replaceBy" ? { kind: "replace-by", key } : { kind: "replace", since: Number(key) || everyRelease };
}

function parseType(text: string): FieldType {
  if (text.startsWith("*")) return { kind: "pointer", to: parseType(text.slice(1)) };
  if (text.startsWith("[]")) return { kind: "list", of: parseType(text.slice(2)) };
  if (text.startsWith("{}")) return { kind: "map", of: parseType(text.slice(2)) };
  if (text.startsWith("enum:")) return { kind: "enum", name: text.slice(5) };
  if (text === "object" || text === "args") return { kind: text };
  if (text === "pair" || text === "certificate" || text === "key") return { kind: "struct", name: `x509.${text}` };
  return text.includes(".") ? { kind: "struct", name: text } : { kind: "scalar", scalar: text };
}
