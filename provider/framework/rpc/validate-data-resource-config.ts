// SPDX-License-Identifier: Apache-2.0
import type { Diagnostic } from "../diagnostics.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { validateConfig } from "../validate-config.ts";
import type { Value } from "../value.ts";

export function validateDataResourceConfig<C>(
  server: Server<C>,
  typeName: string,
  config: Value,
): Promise<readonly Diagnostic[]> {
  const source = server.dataSource(typeName);
  return validateConfig(server, schemaOf(source), config, source);
}
