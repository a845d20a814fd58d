// SPDX-License-Identifier: Apache-2.0
import type { Diagnostic } from "../diagnostics.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { validateConfig } from "../validate-config.ts";
import type { Value } from "../value.ts";

export function validateEphemeralResourceConfig<C>(
  server: Server<C>,
  typeName: string,
  config: Value,
): Promise<readonly Diagnostic[]> {
  const ephemeral = server.ephemeralResource(typeName);
  return validateConfig(server, schemaOf(ephemeral), config, ephemeral);
}
