// SPDX-License-Identifier: Apache-2.0
import { CallError } from "../machine/call-error.ts";
import { hasFault } from "../machine/fault.ts";
import { serverModeOf } from "../machine/listening-ports.ts";
import type { Simulation } from "../simulation.ts";
import { dispatch } from "./dispatch.ts";
import type { MethodDefinition } from "./method.ts";
import { methods } from "./registry.ts";

/** A method of the generated code, seen from the caller's side. */
export interface CallableMethod<Request, Reply> extends Pick<MethodDefinition, "path"> {
  requestSerialize(value: Request): Buffer;
  responseDeserialize(bytes: Buffer): Reply;
}

export interface InProcessOptions {
  /** What a client certificate would carry; ignored by a machine in maintenance mode. @default os:admin */
  readonly roles?: readonly string[];
  /** `node`, `nodes` and other request metadata. @default none */
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  readonly signal?: AbortSignal;
}

/**
 * Calls a machine's API in this process: the real messages, routing, roles and faults, without sockets and TLS. For
 * tests on a virtual clock.
 */
export async function* callStream<Request, Reply>(
  simulation: Simulation,
  address: string,
  method: CallableMethod<Request, Reply>,
  requests: Iterable<Request>,
  options: InProcessOptions = {},
): AsyncGenerator<Reply> {
  const machine = Object.values(simulation.world.machines).find((candidate) => candidate.address === address);
  const { now } = simulation.moment;
  if (machine === undefined || serverModeOf(machine) === "none" || hasFault(machine, "refuse", now)) {
    throw new CallError("Unavailable", `connect ECONNREFUSED ${address}:50000`);
  }
  const call = {
    path: method.path,
    metadata: new Map(Object.entries(options.metadata ?? {})),
    roles: new Set(options.roles ?? ["os:admin"]),
    signal: options.signal ?? new AbortController().signal,
  };
  const encoded = async function* (): AsyncGenerator<Buffer> {
    for (const request of requests) yield method.requestSerialize(request);
  };
  for await (const reply of dispatch(simulation, methods, machine.id, call, encoded())) {
    yield method.responseDeserialize(reply);
  }
}

/** The one reply of a unary call. */
export async function callUnary<Request, Reply>(
  simulation: Simulation,
  address: string,
  method: CallableMethod<Request, Reply>,
  request: Request,
  options: InProcessOptions = {},
): Promise<Reply> {
  for await (const reply of callStream(simulation, address, method, [request], options)) return reply;
  throw new CallError("Internal", "the call ended without a reply");
}
