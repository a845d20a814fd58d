// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf } from "../attribute.ts";
import { type Diagnostic, Diagnostics } from "../diagnostics.ts";
import type { Server } from "../server.ts";
import type { Value } from "../value.ts";

export async function configureProvider<C>(server: Server<C>, config: Value): Promise<readonly Diagnostic[]> {
  const diagnostics = new Diagnostics();
  try {
    const request = { config: (config ?? {}) as ConfigOf<Attributes>, log: server.log, diagnostics };
    server.configured(await server.provider.configure(request));
  } catch (error) {
    diagnostics.error(server.diagnosticOf(error));
  }
  return diagnostics.list;
}
