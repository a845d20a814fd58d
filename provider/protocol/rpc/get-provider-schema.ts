// SPDX-License-Identifier: Apache-2.0
import { getProviderSchema as answer, type Schema } from "../../framework/index.ts";
import { GetProviderSchemaResponse, type Schema as WireSchema } from "../gen/tfplugin6.ts";
import { toWireFunction, toWireSchema } from "../schema.ts";
import type { Rpc } from "../unary.ts";

export const getProviderSchema: Rpc = async (server) => {
  const schema = answer(server);
  return GetProviderSchemaResponse.encode({
    provider: toWireSchema(schema.provider),
    resourceSchemas: all(schema.resources),
    dataSourceSchemas: all(schema.dataSources),
    ephemeralResourceSchemas: all(schema.ephemeralResources),
    functions: Object.fromEntries(schema.functions.map((definition) => [definition.name, toWireFunction(definition)])),
    diagnostics: [],
    serverCapabilities: { planDestroy: true, getProviderSchemaOptional: true },
  }).finish();
};

function all(schemas: ReadonlyMap<string, Schema>): Record<string, WireSchema> {
  return Object.fromEntries([...schemas].map(([name, schema]) => [name, toWireSchema(schema)]));
}
