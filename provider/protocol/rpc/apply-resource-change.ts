// SPDX-License-Identifier: Apache-2.0
import { applyResourceChange as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue, toDynamicValue } from "../dynamic-value.ts";
import { ApplyResourceChangeRequest, ApplyResourceChangeResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const applyResourceChange = unary(
  ApplyResourceChangeRequest,
  ApplyResourceChangeResponse,
  async (server, request) => {
    const { type } = schemaOf(server.resource(request.typeName));
    const { state, remembered, diagnostics } = await answer(server, {
      typeName: request.typeName,
      prior: fromDynamicValue(type, request.priorState),
      planned: fromDynamicValue(type, request.plannedState),
      config: fromDynamicValue(type, request.config),
      remembered: Buffer.from(request.plannedPrivate).toString("utf8"),
    });
    return {
      newState: toDynamicValue(type, state),
      private: Buffer.from(remembered, "utf8"),
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
  (request, diagnostics) => ({ newState: request.priorState, private: request.plannedPrivate, diagnostics }),
);
