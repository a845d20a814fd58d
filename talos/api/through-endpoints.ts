// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import type { Authentication } from "./authentication.ts";
import { clientOver, type TalosClient } from "./client.ts";
import { grpcTransport, type TransportOptions } from "./grpc-transport.ts";
import type { Transport } from "./transport.ts";

/**
 * A client for a machine that is reached through others: each call goes to one endpoint, a control plane or what stands
 * before several, and is passed on from there. After a call that did not get through, the next one takes the next
 * endpoint; no call is sent twice. A machine in maintenance mode can't be reached this way: control planes pass calls
 * on to members of their own cluster only.
 */
export function connectThrough(
  endpoints: readonly string[],
  node: string,
  authentication: Authentication & { readonly kind: "mtls" },
  options: Omit<TransportOptions, "node"> = {},
): TalosClient {
  const transports = endpoints.map((endpoint) => grpcTransport(endpoint, authentication, { ...options, node }));
  if (transports.length === 0) throw new TalosError("invalid-input", `no endpoint to reach ${node} through`);
  return clientOver(inTurn(transports, node));
}

function inTurn(transports: readonly Transport[], node: string): Transport {
  let turn = 0;
  const current = (): Transport => transports[turn % transports.length] as Transport;
  const failed = (used: Transport, error: unknown): never => {
    if (TalosError.from(error).retryable && used === current()) turn += 1;
    throw error;
  };
  return {
    node,
    unary(method, request, options) {
      const used = current();
      return used.unary(method, request, options).catch((error: unknown) => failed(used, error));
    },
    async *serverStream(method, request, options) {
      const used = current();
      try {
        yield* used.serverStream(method, request, options);
      } catch (error) {
        failed(used, error);
      }
    },
    clientStream(method, requests, options) {
      const used = current();
      return used.clientStream(method, requests, options).catch((error: unknown) => failed(used, error));
    },
    close() {
      for (const transport of transports) transport.close();
    },
  };
}
