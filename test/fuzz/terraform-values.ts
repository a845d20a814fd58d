// SPDX-License-Identifier: Apache-2.0
import { type Attribute, type Attributes, type Type, Unknown, type Value } from "../../provider/framework/index.ts";
import { hostileKeys, hostileTexts } from "./hostile-values.ts";
import type { Random } from "./random.ts";

/** What a sane configuration has, so that more than the first check is reached. */
const plausible: Readonly<Record<string, readonly Value[]>> = {
  name: ["demo", "a"],
  endpoint: ["https://10.0.0.1:6443"],
  endpoints: [["10.0.0.1"]],
  talos_version: ["v1.13.9", "v1.12.4"],
  kubernetes_version: ["1.35.0", "1.34.1"],
  role: ["controlplane", "worker"],
  address: ["10.0.0.1", "127.0.0.2"],
  cidr: ["10.0.0.0/24"],
  patches: [[], ["machine: {}"], ["- op: add\n  path: /machine/x\n  value: 1"]],
  patch_files: [null, []],
  meta_data: ["instance-id: a\nlocal-hostname: a\n"],
  network_config: ["version: 2\nethernets: {}\n"],
  platform: ["metal"],
  path: ["seed.iso"],
};

/** `config` may have unknown values, `known` has none, and a `state` has what the provider computes as well. */
type Wish = "config" | "known" | "state";

/** A value of a type's attributes as Terraform would let it through: required ones are there, types are right. */
export function objectOfSchema(attributes: Attributes, random: Random, wish: Wish): Value {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [name, attributeValue(name, attribute, random, wish)]),
  );
}

function attributeValue(name: string, attribute: Attribute, random: Random, wish: Wish): Value {
  const { mode, nested, type } = attribute;
  if (wish === "state" && attribute.writeOnly) return null;
  const isBlock = nested?.block !== undefined && nested.nesting !== "single";
  if (!isBlock && mode === "computed" && wish !== "state") return null;
  if (!isBlock && mode !== "required" && random.chance(wish === "state" ? 0.2 : 0.5)) return null;
  if (!isBlock && wish === "config" && random.chance(0.05)) return unknownOf(random);
  const known = plausible[name];
  if (known !== undefined && random.chance(0.8)) return random.pick(known);
  if (nested === undefined) return valueOfType(type, random, wish === "config");
  const item = () => objectOfSchema(nested.attributes, random, wish);
  if (nested.nesting === "single") return item();
  const items = Array.from({ length: random.below(4) }, item);
  return nested.nesting === "map" ? named(items, random) : items;
}

function named(items: readonly Value[], random: Random): Value {
  return Object.fromEntries(items.map((item, index) => [random.pick([`m${index}`, random.pick(hostileKeys)]), item]));
}

const numbers: readonly Value[] = [0, 1, -1, 250, 2 ** 53, 2n ** 70n, -(2n ** 63n), 0.1, 1e300, 5e-324];

export function valueOfType(type: Type, random: Random, unknowns: boolean, depth = 0): Value {
  if (depth > 0 && unknowns && random.chance(0.05)) return unknownOf(random);
  const inner = (element: Type) => valueOfType(element, random, unknowns, depth + 1);
  switch (type.kind) {
    case "string":
    case "dynamic":
      return type.kind === "dynamic" ? null : random.pick(hostileTexts).replaceAll("\ud800", "");
    case "number":
      return random.pick(numbers);
    case "bool":
      return random.chance(0.5);
    case "list":
    case "set":
      return Array.from({ length: random.below(4) }, () => inner(type.element));
    case "map":
      return named(
        Array.from({ length: random.below(4) }, () => inner(type.element)),
        random,
      );
    case "object":
      return Object.fromEntries(Object.entries(type.attributes).map(([name, own]) => [name, inner(own)]));
    case "tuple":
      return type.elements.map(inner);
  }
}

function unknownOf(random: Random): Value {
  return random.pick([
    new Unknown(),
    new Unknown({ isNull: false }),
    new Unknown({ isNull: false, stringPrefix: "a" }),
  ]);
}

/** A type and nothing of use in it, nested as deep as it takes. */
export function deepDynamic(random: Random): Uint8Array {
  const depth = random.pick([3, 100, 600, 4000]);
  const type = random.pick([
    `${'["list",'.repeat(depth)}"string"${"]".repeat(depth)}`,
    `${'["object",{"__proto__":'.repeat(depth)}"bool"${"}]".repeat(depth)}`,
    '["tuple",["dynamic","dynamic"]]',
    "[".repeat(depth),
  ]);
  const head = Buffer.from(type);
  const length = Buffer.alloc(5);
  length[0] = 0xc6;
  length.writeUInt32BE(head.length, 1);
  const rest = Buffer.alloc(Math.min(depth, 600), random.pick([0x91, 0x81, 0xc0, 0x92]));
  return Buffer.concat([Buffer.of(0x92), length, head, rest]);
}
