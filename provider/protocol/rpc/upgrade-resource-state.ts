// SPDX-License-Identifier: Apache-2.0
import { upgradeResourceState as answer, schemaOf } from "../../framework/index.ts";
import { toDynamicValue } from "../dynamic-value.ts";
import { UpgradeResourceStateRequest, UpgradeResourceStateResponse } from "../gen/tfplugin6.ts";
import { unary } from "../unary.ts";

export const upgradeResourceState = unary(
  UpgradeResourceStateRequest,
  UpgradeResourceStateResponse,
  (server, { typeName, version, rawState }) => {
    const json = Buffer.from(rawState?.json ?? []).toString("utf8");
    const state = answer(server, typeName, Number(version), json);
    return {
      upgradedState: toDynamicValue(schemaOf(server.resource(typeName)).type, state),
      diagnostics: [],
    };
  },
  (_, diagnostics) => ({ upgradedState: undefined, diagnostics }),
);
