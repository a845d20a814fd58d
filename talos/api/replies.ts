// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import type { Metadata } from "./gen/common/common.ts";
import { fromStatus } from "./grpc-error.ts";
import type { Transport } from "./transport.ts";

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

export function throwIfFailed(message: Message, transport: Transport): void {
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
