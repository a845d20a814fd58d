// SPDX-License-Identifier: Apache-2.0
import type { MethodDefinition } from "@grpc/grpc-js";

export interface CallOptions {
  /** Milliseconds until the call is given up. @default 10 seconds for one answer, none for a stream */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  /** Another machine that the connected control plane should pass the call on to. */
  readonly node?: string;
  /** Several such machines; the reply then has one message for each. */
  readonly nodes?: readonly string[];
}

/** The border between calls and connections. Every error that leaves it is a TalosError. */
export interface Transport {
  /** How errors name the machine. */
  readonly node: string;
  unary<Request, Reply>(
    method: MethodDefinition<Request, Reply>,
    request: Request,
    options?: CallOptions,
  ): Promise<Reply>;
  /** Ends the call when the reader stops early. */
  serverStream<Request, Reply>(
    method: MethodDefinition<Request, Reply>,
    request: Request,
    options?: CallOptions,
  ): AsyncIterable<Reply>;
  clientStream<Request, Reply>(
    method: MethodDefinition<Request, Reply>,
    requests: AsyncIterable<Request>,
    options?: CallOptions,
  ): Promise<Reply>;
  close(): void;
}
