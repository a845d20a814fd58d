// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf } from "../attribute.ts";
import { type Diagnostic, Diagnostics } from "../diagnostics.ts";
import type { ValidateRequest } from "../resource.ts";
import { mapAttributes, type SchemaSource, schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { isObject, isWhollyKnown, type Value } from "../value.ts";

interface ValidateOptions {
  /** False on a Terraform that would store write-only values in its state. */
  readonly writeOnlyAllowed: boolean;
}

/** The checks that every kind of block shares: each attribute's validators, then the type's own. */
export async function validateConfig<C>(
  server: Server<C>,
  type: SchemaSource & { validate?(request: ValidateRequest<Attributes>): void | Promise<void> },
  config: Value,
  options: ValidateOptions = { writeOnlyAllowed: true },
): Promise<readonly Diagnostic[]> {
  const diagnostics = new Diagnostics();
  if (!isObject(config)) return [];
  mapAttributes(schemaOf(type).attributes, { planned: config, config, prior: null }, ({ attribute, path, planned }) => {
    if (planned === null || !isWhollyKnown(planned)) return planned;
    if (attribute.writeOnly && !options.writeOnlyAllowed)
      diagnostics.error({
        summary: "Write-only attribute not supported",
        detail:
          "This version of Terraform would store the value in its state. Use Terraform 1.11 or OpenTofu 1.11 or later.",
        path,
      });
    for (const validator of attribute.validators ?? []) validator(planned, path, diagnostics);
    return planned;
  });
  try {
    if (!diagnostics.hasError) await type.validate?.({ config: config as ConfigOf<Attributes>, diagnostics });
  } catch (error) {
    diagnostics.error(server.diagnosticOf(error));
  }
  return diagnostics.list;
}

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
