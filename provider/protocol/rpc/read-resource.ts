// SPDX-License-Identifier: Apache-2.0
import { readResource as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue, toDynamicValue } from "../dynamic-value.ts";
import { ReadResourceRequest, ReadResourceResponse } from "../gen/tfplugin6.ts";
import { writeNumberAsText } from "../number.ts";
import { unary } from "../unary.ts";

export const readResource = unary(
  ReadResourceRequest,
  ReadResourceResponse,
  async (server, request) => {
    const { type } = schemaOf(server.resource(request.typeName));
    const remembered = Buffer.from(request.private).toString("utf8");
    const current = fromDynamicValue(type, request.currentState);
    const { state, diagnostics } = await answer(server, request.typeName, current, remembered);
    return {
      // As its state has them: terraform from 1.10 on takes a number of another precision for drift in -refresh-only.
      newState: toDynamicValue(type, state, writeNumberAsText),
      private: request.private,
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
  (request, diagnostics) => ({ newState: request.currentState, private: request.private, diagnostics }),
);
