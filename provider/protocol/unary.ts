// SPDX-License-Identifier: Apache-2.0
import type { Server } from "../framework/index.ts";
import { toWireDiagnostics } from "./diagnostics.ts";
import type { Diagnostic, MessageFns } from "./gen/tfplugin6.ts";

/** One RPC: bytes of the request in, bytes of the response out. Throws only when the request is no message at all. */
export type Rpc = (server: Server, request: Uint8Array) => Promise<Uint8Array>;

/**
 * An RPC whose failures are diagnostics. `fallback` is what else the answer must hold then: an answer without a state
 * would make Terraform forget the resource.
 */
export function unary<Request, Response>(
  requests: MessageFns<Request>,
  responses: MessageFns<Response>,
  handle: (server: Server, request: Request) => Promise<Response> | Response,
  fallback: (request: Request, diagnostics: Diagnostic[]) => Response,
): Rpc {
  return async (server, bytes) => {
    const request = requests.decode(bytes);
    let response: Response;
    try {
      response = await handle(server, request);
    } catch (error) {
      response = fallback(request, toWireDiagnostics([server.diagnosticOf(error)]));
    }
    return responses.encode(response).finish();
  };
}
