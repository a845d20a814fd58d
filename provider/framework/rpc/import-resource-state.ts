// SPDX-License-Identifier: Apache-2.0
import { withEmptyBlocks } from "../block-rules.ts";
import { type Diagnostic, DiagnosticError } from "../diagnostics.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { type ObjectValue, objectValue, type Value } from "../value.ts";

export interface ImportResult {
  /** Undefined: nothing was imported, the diagnostics say why. */
  readonly state: Value | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The first state of an imported resource. Terraform reads it right after. */
export async function importResourceState<C>(server: Server<C>, typeName: string, id: string): Promise<ImportResult> {
  const resource = server.resource(typeName);
  const { result, diagnostics } = await server.run({ name: "import", milliseconds: undefined }, async (operation) => {
    if (resource.import === undefined)
      throw new DiagnosticError({ summary: "Can't be imported", detail: `${typeName} has no import.` });
    const attributes = (await resource.import({ ...operation, id })) as ObjectValue;
    const schema = schemaOf(resource);
    const whole = objectValue(Object.keys(schema.attributes).map((name) => [name, attributes[name] ?? null]));
    return withEmptyBlocks(schema.attributes, whole);
  });
  return { state: result, diagnostics: diagnostics.list };
}
