// SPDX-License-Identifier: Apache-2.0
import { StopProviderResponse } from "../gen/tfplugin6.ts";
import type { Rpc } from "../unary.ts";

/** Ctrl-C. Answers at once; the operations stop at their next safe point. */
export const stopProvider: Rpc = async (server) => {
  server.stop();
  return StopProviderResponse.encode({ error: "" }).finish();
};
