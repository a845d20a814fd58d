// SPDX-License-Identifier: Apache-2.0
import type { Attributes, PlanOf } from "../attribute.ts";
import { withEmptyBlocks } from "../block-rules.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { isObject, type ObjectValue, type Value } from "../value.ts";
import type { ReadResult } from "./read-resource.ts";

export async function openEphemeralResource<C>(
  server: Server<C>,
  typeName: string,
  config: Value,
): Promise<ReadResult> {
  const ephemeral = server.ephemeralResource(typeName);
  const given = isObject(config) ? config : {};
  const { result, diagnostics } = await server.run({ name: "open", milliseconds: undefined }, (operation) =>
    ephemeral.open({ ...operation, config: given as PlanOf<Attributes> }),
  );
  return {
    state:
      result === undefined
        ? null
        : withEmptyBlocks(schemaOf(ephemeral).attributes, { ...given, ...(result as ObjectValue) }),
    diagnostics: diagnostics.list,
  };
}
