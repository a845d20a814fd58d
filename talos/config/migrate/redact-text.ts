// SPDX-License-Identifier: Apache-2.0
import { isMap, isScalar, isSeq, type Node } from "yaml";
import { pointerSteps } from "../patch/json-patch.ts";
import { hasPassword, redacted } from "../redact.ts";
import { type FieldType, kindType, structOf } from "../schema/schema.ts";
import { isHarmlessVariable, isHiddenField, isHiddenName, isVariablesField } from "../schema/secret-fields.ts";
import { childAt, entriesOf, isDeletion, itemsOf, patchNodes, textOf } from "./nodes.ts";

type Range = readonly [start: number, end: number];

/** The text of a patch with every secret replaced. It has as many lines as before, and the same layout. */
export function redactPatchText(text: string): string {
  const ranges = patchNodes(text).flatMap(hiddenIn);
  return [...ranges]
    .sort(([a], [b]) => b - a)
    .reduce((now, [start, end]) => now.slice(0, start) + covered(now.slice(start, end)) + now.slice(end), text);
}

function covered(text: string): string {
  return text.replace(/[^\s].*/g, redacted);
}

function hiddenIn(document: Node): readonly Range[] {
  if (isSeq(document)) return itemsOf(document).flatMap(hiddenInOperation);
  const kind = textOf(childAt(document, "kind")) || "v1alpha1";
  const struct = kindType(kind)?.struct.name;
  // Of a kind that is not known anything may be secret.
  return struct === undefined ? scalarsIn(document) : hiddenAt(document, { kind: "struct", name: struct });
}

function hiddenInOperation(operation: Node): readonly Range[] {
  const value = childAt(operation, "value");
  const isSecret = pointerSteps(textOf(childAt(operation, "path"))).some(isHiddenName);
  return value === undefined ? [] : isSecret ? scalarsIn(value) : hiddenByName(value);
}

function hiddenByName(node: Node): readonly Range[] {
  if (isScalar(node)) return passwordIn(node);
  const inner = isMap(node) ? [] : itemsOf(node).flatMap(hiddenByName);
  const fields = entriesOf(node).flatMap(({ key, value }) =>
    isHiddenName(key.value) ? scalarsIn(value) : hiddenByName(value),
  );
  return [...inner, ...fields];
}

function hiddenAt(node: Node, type: FieldType): readonly Range[] {
  if (type.kind === "pointer") return hiddenAt(node, type.to);
  if (isScalar(node)) return passwordIn(node);
  if (type.kind === "list") return itemsOf(node).flatMap((item) => hiddenAt(item, type.of));
  if (type.kind === "map") return entriesOf(node).flatMap(({ value }) => hiddenAt(value, type.of));
  if (type.kind !== "struct") return hiddenByName(node);
  const struct = structOf(type.name);
  return entriesOf(node).flatMap(({ key, value }) => {
    if (isHiddenField(struct.name, key.value)) return scalarsIn(value);
    if (isVariablesField(struct.name, key.value))
      return entriesOf(value).flatMap((variable) =>
        isHarmlessVariable(variable.key.value) ? hiddenByName(variable.value) : scalarsIn(variable.value),
      );
    const field = struct.byKey.get(key.value);
    return field === undefined ? hiddenByName(value) : hiddenAt(value, field.type);
  });
}

function passwordIn(node: Node): readonly Range[] {
  return hasPassword(textOf(node)) ? scalarsIn(node) : [];
}

/** Everything but what the patch deletes. */
function scalarsIn(node: Node): readonly Range[] {
  if (isDeletion(node)) return [];
  if (!isScalar(node))
    return [...entriesOf(node).map(({ value }) => value), ...(isSeq(node) ? itemsOf(node) : [])].flatMap(scalarsIn);
  const [start, end] = node.range ?? [0, 0];
  return textOf(node) === "" ? [] : [[start, end]];
}
