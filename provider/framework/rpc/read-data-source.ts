// SPDX-License-Identifier: Apache-2.0
import type { Attributes, PlanOf } from "../attribute.ts";
import { withEmptyBlocks } from "../block-rules.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { timeoutOf } from "../timeouts.ts";
import { isObject, type ObjectValue, type Value } from "../value.ts";
import type { ReadResult } from "./read-resource.ts";

export async function readDataSource<C>(server: Server<C>, typeName: string, config: Value): Promise<ReadResult> {
  const source = server.dataSource(typeName);
  const given = isObject(config) ? config : {};
  const milliseconds = timeoutOf("read", source.timeouts ?? {}, given.timeouts ?? null);
  const { result, diagnostics } = await server.run({ name: "read", milliseconds }, (operation) =>
    source.read({ ...operation, config: given as PlanOf<Attributes> }),
  );
  return {
    state:
      result === undefined
        ? null
        : withEmptyBlocks(schemaOf(source).attributes, { ...given, ...(result as ObjectValue) }),
    diagnostics: diagnostics.list,
  };
}
