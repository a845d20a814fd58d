// SPDX-License-Identifier: Apache-2.0
import type { Contract } from "../../version/index.ts";
import { type ConfigDocument, documentTitle, isOfUnknownKind } from "../document/config-file.ts";
import { isSection, type Section, type Value } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";
import { type FieldType, kindType, type Struct, structOf } from "../schema/schema.ts";
import type { Finding } from "./findings.ts";

/** Documents of kinds that are not known: an error, unless the Talos that runs the config may know them. */
export function unknownKinds(documents: readonly ConfigDocument[], rules: ConfigRules): readonly Finding[] {
  return documents.filter(isOfUnknownKind).map((document) => {
    const [name, version] = [JSON.stringify(document.kind), JSON.stringify(document.apiVersion)];
    const at = { document: documentTitle(document), path: "" };
    if (rules.unknownKinds === "refused")
      return { severity: "error", ...at, message: `${name} ${version}: not registered` };
    const passed = "it is sent to the machine as it is, without any check";
    return {
      severity: "warning",
      ...at,
      message: `${documentTitle(document)}: the kind ${name} is not known, ${passed}`,
    };
  });
}

/** Documents and fields that a machine of the release does not know yet, and would refuse. */
export function tooNew(documents: readonly ConfigDocument[], contract: Contract): readonly Finding[] {
  return documents.flatMap((document) => {
    const title = documentTitle(document);
    const since = kindType(document.kind)?.since ?? 0;
    const fields = contract.includes(since)
      ? newFields(document.section, document.struct, "", contract)
      : [{ path: "", since }];
    return fields.map(({ path, since: from }) => {
      const subject = path === "" ? `${title}:` : `${title}: ${path}`;
      const message = `${subject} exists from Talos v1.${from} on, the machine runs ${contract}`;
      return { severity: "error", document: title, path, message } as const;
    });
  });
}

interface NewField {
  readonly path: string;
  readonly since: number;
}

function newFields(section: Section, struct: Struct, path: string, contract: Contract): readonly NewField[] {
  return [...section].flatMap(([key, value]) => {
    const field = struct.byKey.get(key);
    if (field === undefined) return [];
    const inner = path === "" ? key : `${path}.${key}`;
    if (!contract.includes(field.since)) return [{ path: inner, since: field.since }];
    return inValue(value, field.type, inner, contract);
  });
}

function inValue(value: Value, type: FieldType, path: string, contract: Contract): readonly NewField[] {
  if (type.kind === "pointer") return inValue(value, type.to, path, contract);
  if (type.kind === "list" && Array.isArray(value)) {
    return value.flatMap((item, index) => inValue(item, type.of, `${path}[${index}]`, contract));
  }
  if (!isSection(value)) return [];
  if (type.kind === "map")
    return [...value].flatMap(([key, item]) => inValue(item, type.of, `${path}.${key}`, contract));
  return type.kind === "struct" ? newFields(value, structOf(type.name), path, contract) : [];
}
