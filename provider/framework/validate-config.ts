// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf } from "./attribute.ts";
import { type Diagnostic, Diagnostics } from "./diagnostics.ts";
import type { ValidateRequest } from "./resource.ts";
import type { Schema } from "./schema.ts";
import type { Server } from "./server.ts";
import { isObject, isWhollyKnown, type Value } from "./value.ts";
import { mapAttributes } from "./walk-attributes.ts";

export interface ValidateOptions {
  /** False on a Terraform that would store write-only values in its state. */
  readonly writeOnlyAllowed: boolean;
}

/** The checks that every kind of block shares: each attribute's validators, then the type's own. */
export async function validateConfig<C>(
  server: Server<C>,
  schema: Schema,
  config: Value,
  own: { validate?(request: ValidateRequest<Attributes>): void | Promise<void> },
  options: ValidateOptions = { writeOnlyAllowed: true },
): Promise<readonly Diagnostic[]> {
  const diagnostics = new Diagnostics();
  if (!isObject(config)) return [];
  mapAttributes(schema.attributes, { planned: config, config, prior: null }, ({ attribute, path, planned }) => {
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
    if (!diagnostics.hasError) await own.validate?.({ config: config as ConfigOf<Attributes>, diagnostics });
  } catch (error) {
    diagnostics.error(server.diagnosticOf(error));
  }
  return diagnostics.list;
}
