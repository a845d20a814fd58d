// SPDX-License-Identifier: Apache-2.0
import type { MethodDefinition } from "@grpc/grpc-js";
import { TalosError } from "../errors.ts";
import type { Metadata } from "./gen/common/common.ts";
import { fromStatus } from "./grpc-error.ts";
import type { CallOptions, Transport } from "./transport.ts";

interface Message {
  readonly metadata: Metadata | undefined;
}

export type NodeReply<T> =
  | { readonly node: string; readonly value: T }
  | { readonly node: string; readonly error: TalosError };

/** The answer of the one machine that was asked; an error that came inside the answer is thrown. */
export function onlyMessage<T extends Message>(messages: readonly T[], transport: Transport): T {
  const [message] = messages;
  if (message === undefined) {
    throw new TalosError("internal", `${transport.node}: a reply without a message`, { node: transport.node });
  }
  throwIfFailed(message, transport);
  return message;
}

/** Asks the machine and gives its one message. */
export async function ask<Request, T extends Message>(
  transport: Transport,
  method: MethodDefinition<Request, { readonly messages: T[] }>,
  request: Request,
  options: CallOptions,
): Promise<T> {
  return onlyMessage((await transport.unary(method, request, options)).messages, transport);
}

/** The messages of a stream, up to the first that carries an error. */
export async function* messagesOf<Request, T extends Message>(
  transport: Transport,
  method: MethodDefinition<Request, T>,
  request: Request,
  options: CallOptions,
): AsyncIterable<T> {
  for await (const message of transport.serverStream(method, request, options)) {
    throwIfFailed(message, transport);
    yield message;
  }
}

/** All that a stream of bytes brings. */
export async function bytesOf<Request>(
  transport: Transport,
  method: MethodDefinition<Request, Message & { readonly bytes: Uint8Array }>,
  request: Request,
  options: CallOptions,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const { bytes } of messagesOf(transport, method, request, options)) chunks.push(bytes);
  return Buffer.concat(chunks);
}

function throwIfFailed(message: Message, transport: Transport): void {
  const error = errorOf(message, transport.node);
  if (error !== undefined) throw error;
}

/** The answers of several machines, each its own success or failure. */
export function eachMessage<T extends Message>(messages: readonly T[], transport: Transport): NodeReply<T>[] {
  return messages.map((message) => {
    const node = message.metadata?.hostname || transport.node;
    const error = errorOf(message, node);
    return error === undefined ? { node, value: message } : { node, error };
  });
}

function errorOf(message: Message, fallback: string): TalosError | undefined {
  const { metadata } = message;
  if (metadata === undefined || (metadata.error === "" && metadata.status === undefined)) return undefined;
  const node = metadata.hostname || fallback;
  if (metadata.status !== undefined) return fromStatus(metadata.status.code, metadata.status.message, node);
  return new TalosError("internal", `${node}: ${metadata.error}`, { node });
}
