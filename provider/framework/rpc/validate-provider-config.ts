// SPDX-License-Identifier: Apache-2.0
import type { Diagnostic } from "../diagnostics.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { validateConfig } from "../validate-config.ts";
import type { Value } from "../value.ts";

export function validateProviderConfig<C>(server: Server<C>, config: Value): Promise<readonly Diagnostic[]> {
  return validateConfig(server, schemaOf(server.provider), config, server.provider);
}
