// SPDX-License-Identifier: Apache-2.0
import { planResourceChange as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics, toWirePath } from "../diagnostics.ts";
import { fromDynamicValue, toDynamicValue } from "../dynamic-value.ts";
import { PlanResourceChangeRequest, PlanResourceChangeResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const planResourceChange = unary(
  PlanResourceChangeRequest,
  PlanResourceChangeResponse,
  async (server, request) => {
    const { type } = schemaOf(server.resource(request.typeName));
    const { planned, replace, diagnostics } = await answer(server, {
      typeName: request.typeName,
      prior: fromDynamicValue(type, request.priorState),
      proposed: fromDynamicValue(type, request.proposedNewState),
      config: fromDynamicValue(type, request.config),
      remembered: Buffer.from(request.priorPrivate).toString("utf8"),
    });
    return {
      plannedState: toDynamicValue(type, planned),
      requiresReplace: replace.map(toWirePath),
      plannedPrivate: request.priorPrivate,
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
  (request, diagnostics) => ({
    plannedState: request.proposedNewState,
    requiresReplace: [],
    plannedPrivate: request.priorPrivate,
    diagnostics,
  }),
);
