// SPDX-License-Identifier: Apache-2.0
import type { Machine, World } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";

/** What a handler knows about the call it serves. */
export interface Call {
  readonly simulation: Simulation;
  /** The machine that serves it. */
  readonly machineId: string;
  readonly roles: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** The machine as it is now. */
  machine(): Machine;
  world(): World;
}

/** A method as the generated code describes it. */
export interface MethodDefinition {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  // Method syntax keeps the parameters bivariant, so that every generated definition fits.
  requestDeserialize(bytes: Buffer): unknown;
  responseSerialize(value: never): Buffer;
}

type Request<D extends MethodDefinition> = ReturnType<D["requestDeserialize"]>;
type Reply<D extends MethodDefinition> = Parameters<D["responseSerialize"]>[0];

/** The plain function behind a method: message in, message out, or streams of them. */
export type Handler<D extends MethodDefinition> = (
  call: Call,
  request: D["requestStream"] extends true ? AsyncIterable<Request<D>> : Request<D>,
) => D["responseStream"] extends true ? AsyncIterable<Reply<D>> : Reply<D> | Promise<Reply<D>>;

export type ServiceDefinition = Readonly<Record<string, MethodDefinition>>;
export type Handlers<S extends ServiceDefinition> = { readonly [K in keyof S]?: Handler<S[K]> };

/** A method that is served, with its types forgotten: the dispatcher treats all alike. */
export interface ServedMethod {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  decode(bytes: Buffer): unknown;
  encode(value: unknown): Buffer;
  handle(call: Call, request: unknown): unknown;
}

/** Joins the handlers of one service to their definitions. */
export function serveService<S extends ServiceDefinition>(definition: S, handlers: Handlers<S>): ServedMethod[] {
  return Object.entries(definition).flatMap(([name, method]) => {
    const handler = handlers[name] as ((call: Call, request: unknown) => unknown) | undefined;
    if (handler === undefined) return [];
    return [
      {
        path: method.path,
        requestStream: method.requestStream,
        responseStream: method.responseStream,
        decode: (bytes) => method.requestDeserialize(bytes),
        encode: (value) => method.responseSerialize(value as never),
        handle: handler,
      },
    ];
  });
}
