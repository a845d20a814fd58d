// SPDX-License-Identifier: Apache-2.0
import { readDataSource as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue, toDynamicValue } from "../dynamic-value.ts";
import { ReadDataSourceRequest, ReadDataSourceResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const readDataSource = unary(
  ReadDataSourceRequest,
  ReadDataSourceResponse,
  async (server, { typeName, config }) => {
    const { type } = schemaOf(server.dataSource(typeName));
    const { state, diagnostics } = await answer(server, typeName, fromDynamicValue(type, config));
    return { state: toDynamicValue(type, state), diagnostics: toWireDiagnostics(diagnostics) };
  },
  (_, diagnostics) => ({ state: undefined, diagnostics }),
);
