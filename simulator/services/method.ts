// SPDX-License-Identifier: Apache-2.0
import { Data } from "../../talos/api/gen/common/common.ts";
import type { DeepPartial, MessageFns } from "../../talos/api/gen/machine/machine.ts";
import { configOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import type { NodeConfig } from "../machine/node-config.ts";
import { minorOf } from "../machine/release.ts";
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
  /** Puts another form of the machine in its place. */
  change(edit: (machine: Machine) => Machine): void;
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
type Handler<D extends MethodDefinition> = (
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

/** What one machine says of a reply, in which apid joins those of several. */
export type Message<T extends { messages: unknown[] }> = DeepPartial<T["messages"][number]>;

/** The handler of a method with one reply, from what makes this machine's message; without one it only says that it is done. */
export function answer<Q, T extends { messages: unknown[] }>(
  type: MessageFns<T>,
  work: (call: Call, request: Q) => Message<T> | undefined | Promise<Message<T> | undefined>,
): (call: Call, request: Q) => Promise<T> {
  return async (call, request) =>
    type.fromPartial({ messages: [(await work(call, request)) ?? {}] } as unknown as DeepPartial<T>);
}

/** The machine's config when it is a control plane; refuses the API otherwise, in the real words. */
export function controlPlaneOnly(call: Call, api: string): NodeConfig {
  const machine = call.machine();
  const config = configOf(machine);
  if (config === undefined && minorOf(machine.talosVersion) >= 1_013) {
    throw new CallError("Unimplemented", `machine type is not set, cannot use ${api} API`);
  }
  if (config?.type !== "controlplane") {
    throw new CallError("Unimplemented", `${api} is only available on control plane nodes`);
  }
  return config;
}

/** Yields once now and once after every change of the world, until the caller goes away. Changes in between are joined. */
export async function* everyChange(call: Call): AsyncGenerator<void> {
  let changed = true;
  let wake: (() => void) | undefined;
  const nudge = (): void => {
    changed = true;
    wake?.();
  };
  const unsubscribe = call.simulation.subscribe(nudge);
  call.signal.addEventListener("abort", nudge, { once: true });
  try {
    while (!call.signal.aborted) {
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      changed = false;
      yield;
    }
  } finally {
    unsubscribe();
    call.signal.removeEventListener("abort", nudge);
  }
}

/** Milliseconds since the epoch as google.protobuf.Timestamp. */
export function timestampOf(milliseconds: number): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(milliseconds / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((milliseconds - seconds * 1_000) * 1_000_000) };
}

/** google.protobuf.Duration in milliseconds. */
export function millisecondsOf(duration: { readonly seconds: bigint; readonly nanos: number } | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) * 1_000 + duration.nanos / 1_000_000;
}

/** In pieces of the size that real machines send. */
export function* inPieces(bytes: Uint8Array): Generator<Data> {
  for (let offset = 0; offset < bytes.length; offset += 1_024) {
    yield Data.fromPartial({ bytes: bytes.subarray(offset, offset + 1_024) });
  }
}
