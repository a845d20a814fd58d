// SPDX-License-Identifier: Apache-2.0
import { CloseEphemeralResourceResponse } from "../gen/tfplugin6.ts";
import type { Rpc } from "../unary.ts";

/** Our ephemeral values hold nothing open; Terraform asks all the same. */
export const closeEphemeralResource: Rpc = async () =>
  CloseEphemeralResourceResponse.encode({ diagnostics: [] }).finish();
