// SPDX-License-Identifier: Apache-2.0
import { type Node, YAMLMap, type YAMLSeq } from "yaml";
import { pointerSteps } from "../patch/json-patch.ts";
import { type FieldType, structOf } from "../schema/schema.ts";
import { childAt, deletion, itemsOf, listOf, putAt, textOf } from "./nodes.ts";

export interface LeftOperation {
  readonly node: Node;
  readonly path: string;
  readonly reason: string;
}

/**
 * RFC 6902 operations as a piece of the v1alpha1 document: contracts from 1.12 on have several documents, to which Talos
 * applies no such operations. Whether the piece means the same depends on the config; that is for the caller to check.
 */
export function asPiece(operations: YAMLSeq): { readonly piece: YAMLMap; readonly left: readonly LeftOperation[] } {
  const piece = new YAMLMap();
  const left: LeftOperation[] = [];
  for (const node of itemsOf(operations)) {
    const [op, path] = [textOf(childAt(node, "op")), textOf(childAt(node, "path"))];
    const steps = pointerSteps(path);
    const isAppended = steps.at(-1) === "-";
    const place = isAppended ? steps.slice(0, -1) : steps;
    const fail = (reason: string) => left.push({ node, path: place.join("."), reason });
    const value = childAt(node, "value");
    if (!["add", "replace", "remove"].includes(op)) fail(`the operation ${op} cannot be written as a piece of config`);
    else if (place.length === 0 || passesList(place)) fail("it counts elements of a list: write the list by its names");
    else if (op !== "remove" && value === undefined) fail("it has no value");
    else {
      const written = op === "remove" || value === undefined ? deletion() : isAppended ? listOf([value]) : value;
      if (!putAt(piece, place, written)) fail("another operation of the same patch is about the same place");
    }
  }
  return { piece, left };
}

/** Whether the way to the place goes through an element of a list. */
function passesList(place: readonly string[]): boolean {
  let type = innerType({ kind: "struct", name: "v1alpha1.Config" }, place[0] ?? "");
  for (const key of place.slice(1)) {
    if (type?.kind === "list") return true;
    type = type && innerType(type, key);
  }
  return false;
}

function innerType(type: FieldType, key: string): FieldType | undefined {
  const inner =
    type.kind === "struct" ? structOf(type.name).byKey.get(key)?.type : type.kind === "map" ? type.of : undefined;
  return inner?.kind === "pointer" ? inner.to : inner;
}
