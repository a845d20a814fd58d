// SPDX-License-Identifier: Apache-2.0
import { given } from "../given.ts";
import type { ConfigDocument } from "./document/config-file.ts";
import { isSection, type Section, textAt, type Value } from "./document/value.ts";
import { kindType } from "./schema/schema.ts";

/** A setting at its place in a document of its own. */
export interface PlacedSetting {
  readonly kind: string;
  readonly name?: string;
  readonly path: string;
  readonly value: Value;
}

export function findDocument(
  documents: readonly ConfigDocument[],
  { kind, name }: Pick<PlacedSetting, "kind" | "name">,
): ConfigDocument | undefined {
  return documents.find(
    (document) => document.kind === kind && (name === undefined || textAt(document.section, "name") === name),
  );
}

/** Sets it in its document, which is made where there is none. */
export function putSetting(documents: ConfigDocument[], setting: PlacedSetting): void {
  const { kind, name, path, value } = setting;
  const type = kindType(kind);
  if (type === undefined) return;
  const known = findDocument(documents, setting);
  const head: Section = new Map(Object.entries(given({ apiVersion: "v1alpha1", kind, name })));
  const document = known ?? { kind, apiVersion: "v1alpha1", section: head, struct: type.struct };
  if (known === undefined) documents.push(document);
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  let section: Section = document.section;
  for (const key of keys) {
    const inner = section.get(key);
    const next: Section = isSection(inner) ? inner : new Map();
    section.set(key, next);
    section = next;
  }
  section.set(last, value);
}

/** Sections that are left empty go too: they said nothing else. */
export function takeSetting(section: Section, path: string): void {
  const [key = "", ...rest] = path.split(".");
  const inner = section.get(key);
  if (rest.length === 0) section.delete(key);
  else if (isSection(inner)) {
    takeSetting(inner, rest.join("."));
    if (inner.size === 0) section.delete(key);
  }
}
