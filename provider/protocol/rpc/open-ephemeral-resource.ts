// SPDX-License-Identifier: Apache-2.0
import { openEphemeralResource as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue, toDynamicValue } from "../dynamic-value.ts";
import { OpenEphemeralResourceRequest, OpenEphemeralResourceResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const openEphemeralResource = unary(
  OpenEphemeralResourceRequest,
  OpenEphemeralResourceResponse,
  async (server, { typeName, config }) => {
    const { type } = schemaOf(server.ephemeralResource(typeName));
    const { state, diagnostics } = await answer(server, typeName, fromDynamicValue(type, config));
    return { result: toDynamicValue(type, state), diagnostics: toWireDiagnostics(diagnostics) };
  },
  (_, diagnostics) => ({ result: undefined, diagnostics }),
);
