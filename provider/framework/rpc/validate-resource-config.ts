// SPDX-License-Identifier: Apache-2.0
import type { Diagnostic } from "../diagnostics.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { type ValidateOptions, validateConfig } from "../validate-config.ts";
import type { Value } from "../value.ts";

export function validateResourceConfig<C>(
  server: Server<C>,
  typeName: string,
  config: Value,
  options: ValidateOptions,
): Promise<readonly Diagnostic[]> {
  const resource = server.resource(typeName);
  return validateConfig(server, schemaOf(resource), config, resource, options);
}
