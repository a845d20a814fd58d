// SPDX-License-Identifier: Apache-2.0
import { validateDataResourceConfig as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue } from "../dynamic-value.ts";
import { ValidateTypeConfigRequest, ValidateTypeConfigResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const validateDataResourceConfig = unary(
  ValidateTypeConfigRequest,
  ValidateTypeConfigResponse,
  async (server, request) => {
    const config = fromDynamicValue(schemaOf(server.dataSource(request.typeName)).type, request.config);
    return { diagnostics: toWireDiagnostics(await answer(server, request.typeName, config)) };
  },
  (_, diagnostics) => ({ diagnostics }),
);
