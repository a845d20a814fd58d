// SPDX-License-Identifier: Apache-2.0

/** A provider's schema, cut down to what we use. */
export interface ProviderSchema {
  /** What its provider block takes; not known of providers whose schema was made of bindings. */
  readonly provider?: Block;
  readonly resource: Readonly<Record<string, Block>>;
  readonly data: Readonly<Record<string, Block>>;
}
export interface Block {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly block_types?: Readonly<
    Record<
      string,
      {
        readonly nesting_mode: string;
        readonly min_items?: number;
        readonly max_items?: number;
        readonly block: Block;
      }
    >
  >;
}
export interface Attribute {
  readonly type?: Type;
  readonly required?: boolean;
  readonly optional?: boolean;
  readonly computed?: boolean;
  readonly nested_type?: { readonly nesting_mode: string; readonly attributes: Readonly<Record<string, Attribute>> };
}
type Type = string | readonly [string, Type] | readonly ["object", Readonly<Record<string, Type>>];
type Body = Readonly<Record<string, unknown>>;

const meta: ReadonlySet<string> = new Set([
  "//",
  "depends_on",
  "lifecycle",
  "provider",
  "alias",
  "count",
  "for_each",
  "provisioner",
]);
const isBody = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value);
/** Known only to Terraform: a template, or what evaluateStack has for a value that no plan knows. */
const isExpression = (value: unknown) =>
  typeof value === "symbol" || (typeof value === "string" && /(?<!\$)\$\{/.test(value));

/** A body with what its `dynamic` blocks make, once each. */
function withDynamic({ dynamic, ...body }: Body): Body {
  const made = Object.entries(isBody(dynamic) ? dynamic : {});
  return { ...body, ...Object.fromEntries(made.map(([name, block]) => [name, isBody(block) ? block.content : block])) };
}

/** Everything in a resource that its provider would refuse: unknown, missing, read-only or wrongly typed arguments. */
export function checkBody(written: Body, block: Block, path: string, top = true): string[] {
  const faults: string[] = [];
  const body = withDynamic(written);
  const { attributes = {}, block_types: blocks = {} } = block;
  for (const [name, value] of Object.entries(body)) {
    if (top && meta.has(name)) continue;
    const at = `${path}.${name}`;
    const [attribute, nested] = [attributes[name], blocks[name]];
    if (attribute !== undefined) {
      if (!attribute.required && !attribute.optional) faults.push(`${at}: only the provider sets it`);
      else faults.push(...checkAttribute(value, attribute, at));
    } else if (nested !== undefined) {
      const bodies = Array.isArray(value) ? value : [value];
      if (nested.max_items !== undefined && bodies.length > nested.max_items)
        faults.push(`${at}: more than ${nested.max_items}`);
      for (const inner of bodies)
        faults.push(...(isBody(inner) ? checkBody(inner, nested.block, at, false) : [`${at}: no block`]));
    } else faults.push(`${at}: unknown`);
  }
  for (const [name, { min_items: least = 0 }] of Object.entries(blocks))
    if (least > 0 && !(name in body)) faults.push(`${path}.${name}: missing`);
  for (const [name, { required }] of Object.entries(attributes))
    if (required && !(name in body)) faults.push(`${path}.${name}: missing`);
  return faults;
}

function checkAttribute(value: unknown, attribute: Attribute, path: string): string[] {
  if (isExpression(value) || value === null) return [];
  const nested = attribute.nested_type;
  if (nested === undefined) return attribute.type === undefined ? [] : checkType(value, attribute.type, path);
  const block = { attributes: nested.attributes };
  if (nested.nesting_mode === "single")
    return isBody(value) ? checkBody(value, block, path, false) : [`${path}: no object`];
  const bodies = nested.nesting_mode === "map" && isBody(value) ? Object.values(value) : value;
  if (!Array.isArray(bodies)) return [`${path}: no ${nested.nesting_mode}`];
  return bodies.flatMap((inner: unknown) =>
    isBody(inner) ? checkBody(inner, block, path, false) : [`${path}: no object`],
  );
}

function checkType(value: unknown, type: Type, path: string): string[] {
  if (isExpression(value)) return [];
  if (typeof type === "string") {
    const wanted: Readonly<Record<string, string>> = { string: "string", number: "number", bool: "boolean" };
    // Terraform makes a number of a text that is one, as keys of maps are.
    const isNumber = type === "number" && typeof value === "string" && /^\d+$/.test(value);
    return type === "dynamic" || isNumber || typeof value === wanted[type]
      ? []
      : [`${path}: ${JSON.stringify(value)} is no ${type}`];
  }
  const [kind, inner] = type;
  if (kind === "list" || kind === "set")
    return Array.isArray(value)
      ? value.flatMap((item: unknown) => checkType(item, inner as Type, path))
      : [`${path}: no ${kind}`];
  if (!isBody(value)) return [`${path}: no ${kind}`];
  return kind === "map" ? Object.values(value).flatMap((item) => checkType(item, inner as Type, path)) : [];
}

/** Dotted paths of the blocks that a body uses. */
export function blockPaths(body: Body, block: Block, path = ""): string[] {
  return Object.entries(withDynamic(body)).flatMap(([name, value]) => {
    const nested = block.block_types?.[name];
    if (nested === undefined) return [];
    const at = path === "" ? name : `${path}.${name}`;
    const bodies = (Array.isArray(value) ? value : [value]).filter(isBody);
    return [at, ...bodies.flatMap((inner) => blockPaths(inner, nested.block, at))];
  });
}
