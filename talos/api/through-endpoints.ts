// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import type { Authentication } from "./authentication.ts";
import { clientOver, type TalosClient } from "./client.ts";
import { grpcTransport, type TransportOptions } from "./grpc-transport.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Control planes, or what stands before several, that pass calls on: one connection each for all machines behind them. */
export interface Endpoints {
  /** A client for the machine that they know by this address. Its connections end with those of the endpoints. */
  machine(node: string): TalosClient;
  /** Clients for the endpoints themselves, in their order; they can ask several machines in one call. */
  readonly own: readonly TalosClient[];
  close(): void;
}

/**
 * Connects with the first call. Each call goes to one endpoint; after one that did not get through, the machine's next
 * call takes the next endpoint; no call is sent twice. A machine in maintenance mode can't be reached this way: control
 * planes pass calls on to members of their own cluster only.
 */
export function connectEndpoints(
  endpoints: readonly string[],
  authentication: Authentication & { readonly kind: "mtls" },
  options: TransportOptions = {},
): Endpoints {
  if (endpoints.length === 0) throw new TalosError("invalid-input", "no endpoint to reach machines through");
  const transports = endpoints.map((endpoint) => grpcTransport(endpoint, authentication, options));
  let machines = 0;
  return {
    // They begin at different endpoints, so that all of those have a share of the work.
    machine: (node) => clientOver(inTurn(transports, node, machines++)),
    own: transports.map((transport) => clientOver(transport)),
    close() {
      for (const transport of transports) transport.close();
    },
  };
}

/** The same for a single machine: the connections end with its client. */
export function connectThrough(
  endpoints: readonly string[],
  node: string,
  authentication: Authentication & { readonly kind: "mtls" },
  options: TransportOptions = {},
): TalosClient {
  const shared = connectEndpoints(endpoints, authentication, options);
  return { ...shared.machine(node), close: () => shared.close() };
}

function inTurn(transports: readonly Transport[], node: string, first: number): Transport {
  let turn = first;
  const current = (): Transport => transports[turn % transports.length] as Transport;
  const passedOn = (options: CallOptions = {}): CallOptions => ({ node, ...options });
  const failed = (used: Transport, error: unknown): never => {
    if (TalosError.from(error).retryable && used === current()) turn += 1;
    throw error;
  };
  return {
    node,
    unary(method, request, options) {
      const used = current();
      return used.unary(method, request, passedOn(options)).catch((error: unknown) => failed(used, error));
    },
    async *serverStream(method, request, options) {
      const used = current();
      try {
        yield* used.serverStream(method, request, passedOn(options));
      } catch (error) {
        failed(used, error);
      }
    },
    clientStream(method, requests, options) {
      const used = current();
      return used.clientStream(method, requests, passedOn(options)).catch((error: unknown) => failed(used, error));
    },
    close() {},
  };
}
