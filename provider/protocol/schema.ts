// SPDX-License-Identifier: Apache-2.0
import {
  type Attribute,
  type Parameter,
  type ProviderFunction,
  type Schema,
  type Type,
  typeToJson,
} from "../framework/index.ts";
import {
  type FunctionDefinition,
  Schema_NestedObject_NestingMode as NestingMode,
  StringKind,
  type Schema_Attribute as WireAttribute,
  type FunctionDefinition_Parameter as WireParameter,
  type Schema as WireSchema,
} from "./gen/tfplugin6.ts";

const nestingModes = {
  single: NestingMode.SINGLE,
  list: NestingMode.LIST,
  set: NestingMode.SET,
  map: NestingMode.MAP,
} as const;

export function toWireSchema({ version, description, attributes }: Schema): WireSchema {
  return {
    version: BigInt(version),
    block: {
      version: BigInt(version),
      attributes: Object.entries(attributes).map(([name, attribute]) => toWireAttribute(name, attribute)),
      description,
      descriptionKind: StringKind.MARKDOWN,
      deprecated: false,
    },
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
            nesting: nestingModes[nested.nesting],
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
