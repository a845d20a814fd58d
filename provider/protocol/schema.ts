// SPDX-License-Identifier: Apache-2.0
import {
  type Attribute,
  type Attributes,
  type BlockItems,
  type Identity,
  type Nested,
  type Parameter,
  type ProviderFunction,
  type Schema,
  stringType,
  type Type,
  typeToJson,
} from "../framework/index.ts";
import {
  Schema_NestedBlock_NestingMode as BlockNestingMode,
  type FunctionDefinition,
  Schema_NestedObject_NestingMode as NestingMode,
  type ResourceIdentitySchema,
  StringKind,
  type Schema_Attribute as WireAttribute,
  type Schema_Block as WireBlock,
  type Schema_NestedBlock as WireNestedBlock,
  type FunctionDefinition_Parameter as WireParameter,
  type Schema as WireSchema,
} from "./gen/tfplugin6.ts";

const upper = (nesting: Nested["nesting"]) => nesting.toUpperCase() as Uppercase<typeof nesting>;

export function toWireSchema({ version, description, attributes }: Schema): WireSchema {
  return {
    version: BigInt(version),
    block: { ...toWireBlock(attributes, description, false), version: BigInt(version) },
  };
}

function toWireBlock(attributes: Attributes, description: string, deprecated: boolean): WireBlock {
  const block: WireBlock = {
    version: 0n,
    attributes: [],
    blockTypes: [],
    description,
    descriptionKind: StringKind.MARKDOWN,
    deprecated,
  };
  for (const [name, attribute] of Object.entries(attributes)) {
    if (attribute.nested?.block === undefined) block.attributes.push(toWireAttribute(name, attribute));
    else block.blockTypes.push(toWireNestedBlock(name, attribute, attribute.nested, attribute.nested.block));
  }
  return block;
}

function toWireNestedBlock(name: string, attribute: Attribute, nested: Nested, items: BlockItems): WireNestedBlock {
  return {
    typeName: name,
    block: toWireBlock(nested.attributes, attribute.description, attribute.deprecated ?? false),
    nesting: BlockNestingMode[upper(nested.nesting)],
    minItems: BigInt(items.min ?? 0),
    maxItems: BigInt(items.max ?? 0),
  };
}

function toWireAttribute(name: string, attribute: Attribute): WireAttribute {
  const { mode, nested } = attribute;
  return {
    name,
    type: nested === undefined ? wireType(attribute.type) : new Uint8Array(0),
    nestedType:
      nested === undefined
        ? undefined
        : {
            nesting: NestingMode[upper(nested.nesting)],
            attributes: Object.entries(nested.attributes).map(([inner, value]) => toWireAttribute(inner, value)),
          },
    description: attribute.description,
    descriptionKind: StringKind.MARKDOWN,
    required: mode === "required",
    optional: mode === "optional" || mode === "defaulted",
    computed: mode === "computed" || mode === "defaulted",
    sensitive: attribute.sensitive ?? false,
    deprecated: attribute.deprecated ?? false,
    writeOnly: attribute.writeOnly ?? false,
  };
}

/** All attributes are texts, and an import needs all of them. */
export function toWireIdentitySchema({ attributes }: Identity<Attributes>): ResourceIdentitySchema {
  const identityAttributes = Object.entries(attributes).map(([name, description]) => ({
    name,
    type: wireType(stringType),
    requiredForImport: true,
    optionalForImport: false,
    description,
  }));
  return { version: 0n, identityAttributes };
}

export function toWireFunction(definition: ProviderFunction): FunctionDefinition {
  return {
    parameters: definition.parameters.map(toWireParameter),
    variadicParameter: definition.variadic === undefined ? undefined : toWireParameter(definition.variadic),
    return: { type: wireType(definition.returns) },
    summary: definition.summary,
    description: definition.description,
    descriptionKind: StringKind.MARKDOWN,
  };
}

function toWireParameter({ name, type, description }: Parameter): WireParameter {
  return {
    name,
    type: wireType(type),
    allowNullValue: false,
    allowUnknownValues: false,
    description,
    descriptionKind: StringKind.MARKDOWN,
  };
}

function wireType(type: Type): Uint8Array {
  return Buffer.from(JSON.stringify(typeToJson(type)));
}
