// SPDX-License-Identifier: Apache-2.0

/** The types of Terraform's language ("cty"). `dynamic` stands for a value that brings its own type. */
export type Type =
  | { readonly kind: "string" | "number" | "bool" | "dynamic" }
  | { readonly kind: "list" | "set" | "map"; readonly element: Type }
  | { readonly kind: "object"; readonly attributes: Readonly<Record<string, Type>> }
  | { readonly kind: "tuple"; readonly elements: readonly Type[] };

export const stringType: Type = { kind: "string" };
export const numberType: Type = { kind: "number" };
export const boolType: Type = { kind: "bool" };
export const dynamicType: Type = { kind: "dynamic" };
export const listOf = (element: Type): Type => ({ kind: "list", element });
export const setOf = (element: Type): Type => ({ kind: "set", element });
export const mapOf = (element: Type): Type => ({ kind: "map", element });
export const objectOf = (attributes: Readonly<Record<string, Type>>): Type => ({ kind: "object", attributes });

/** The JSON notation of a type that Terraform uses in schemas and dynamic values. */
export function typeToJson(type: Type): unknown {
  switch (type.kind) {
    case "list":
    case "set":
    case "map":
      return [type.kind, typeToJson(type.element)];
    case "object":
      return [
        "object",
        Object.fromEntries(Object.entries(type.attributes).map(([name, inner]) => [name, typeToJson(inner)])),
      ];
    case "tuple":
      return ["tuple", type.elements.map(typeToJson)];
    default:
      return type.kind;
  }
}

const deepest = 500;

/** The inverse of {@link typeToJson}. Throws on anything that is not a type, or is nested deeper than any real one. */
export function typeFromJson(json: unknown, depth = 0): Type {
  if (depth > deepest) throw new RangeError("the type is nested too deep");
  const inside = (inner: unknown) => typeFromJson(inner, depth + 1);
  if (json === "string" || json === "number" || json === "bool" || json === "dynamic") return { kind: json };
  if (Array.isArray(json)) {
    const [kind, inner] = json as [unknown, unknown];
    if (kind === "list" || kind === "set" || kind === "map") return { kind, element: inside(inner) };
    if (kind === "tuple" && Array.isArray(inner)) return { kind, elements: inner.map(inside) };
    if (kind === "object" && typeof inner === "object" && inner !== null)
      return objectOf(Object.fromEntries(Object.entries(inner).map(([name, type]) => [name, inside(type)])));
  }
  const found = typeof json === "string" ? JSON.stringify(json) : Array.isArray(json) ? "a list" : `${typeof json}`;
  throw new TypeError(`not a Terraform type: ${found}`);
}
