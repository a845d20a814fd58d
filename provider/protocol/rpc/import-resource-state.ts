// SPDX-License-Identifier: Apache-2.0
import { importResourceState as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { toDynamicValue } from "../dynamic-value.ts";
import { ImportResourceStateRequest, ImportResourceStateResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const importResourceState = unary(
  ImportResourceStateRequest,
  ImportResourceStateResponse,
  async (server, { typeName, id }) => {
    const { type } = schemaOf(server.resource(typeName));
    const { state, diagnostics } = await answer(server, typeName, id);
    const imported = { typeName, private: new Uint8Array(0) };
    return {
      importedResources: state === undefined ? [] : [{ ...imported, state: toDynamicValue(type, state) }],
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
  (_, diagnostics) => ({ importedResources: [], diagnostics }),
);
