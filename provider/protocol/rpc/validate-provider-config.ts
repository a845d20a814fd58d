// SPDX-License-Identifier: Apache-2.0
import { validateProviderConfig as answer, schemaOf } from "../../framework/index.ts";
import { toWireDiagnostics } from "../diagnostics.ts";
import { fromDynamicValue } from "../dynamic-value.ts";
import { ValidateProviderConfigRequest, ValidateProviderConfigResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const validateProviderConfig = unary(
  ValidateProviderConfigRequest,
  ValidateProviderConfigResponse,
  async (server, request) => {
    const config = fromDynamicValue(schemaOf(server.provider).type, request.config);
    return { diagnostics: toWireDiagnostics(await answer(server, config)) };
  },
  (_, diagnostics) => ({ diagnostics }),
);
