// SPDX-License-Identifier: Apache-2.0
import type { ProviderFunction } from "../function.ts";
import { type Schema, schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";

export interface ProviderSchema {
  readonly provider: Schema;
  readonly resources: ReadonlyMap<string, Schema>;
  readonly dataSources: ReadonlyMap<string, Schema>;
  readonly ephemeralResources: ReadonlyMap<string, Schema>;
  readonly functions: readonly ProviderFunction[];
}

export function getProviderSchema<C>({ provider }: Server<C>): ProviderSchema {
  return {
    provider: schemaOf(provider),
    resources: new Map(provider.resources.map((type) => [type.name, schemaOf(type)])),
    dataSources: new Map(provider.dataSources.map((type) => [type.name, schemaOf(type)])),
    ephemeralResources: new Map(provider.ephemeralResources.map((type) => [type.name, schemaOf(type)])),
    functions: provider.functions,
  };
}
