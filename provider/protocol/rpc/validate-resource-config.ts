// SPDX-License-Identifier: Apache-2.0
import { validateResourceConfig as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue } from "../dynamic-value.ts";
import { ValidateTypeConfigRequest, ValidateTypeConfigResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const validateResourceConfig = unary(
  ValidateTypeConfigRequest,
  ValidateTypeConfigResponse,
  async (server, request) => {
    const config = fromDynamicValue(schemaOf(server.resource(request.typeName)).type, request.config);
    const writeOnlyAllowed = request.clientCapabilities?.writeOnlyAttributesAllowed ?? false;
    return { diagnostics: toWireDiagnostics(await answer(server, request.typeName, config, { writeOnlyAllowed })) };
  },
  (_, diagnostics) => ({ diagnostics }),
);
