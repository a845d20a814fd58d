// SPDX-License-Identifier: Apache-2.0
import { status } from "@grpc/grpc-js";
import { TalosError, type TalosErrorCode } from "../errors.ts";
import { fromNodeErrorText } from "./node-error.ts";

const codes: Readonly<Record<number, TalosErrorCode>> = {
  [status.CANCELLED]: "canceled",
  [status.INVALID_ARGUMENT]: "invalid-input",
  [status.DEADLINE_EXCEEDED]: "deadline-exceeded",
  [status.NOT_FOUND]: "not-found",
  [status.ALREADY_EXISTS]: "already-exists",
  [status.PERMISSION_DENIED]: "permission-denied",
  [status.RESOURCE_EXHAUSTED]: "unavailable",
  [status.FAILED_PRECONDITION]: "failed-precondition",
  [status.ABORTED]: "conflict",
  [status.OUT_OF_RANGE]: "invalid-input",
  [status.UNIMPLEMENTED]: "unimplemented",
  [status.UNAVAILABLE]: "unavailable",
  [status.UNAUTHENTICATED]: "permission-denied",
};

/** Turns what grpc-js throws into our error, naming the machine. */
export function fromGrpcError(error: unknown, node: string): TalosError {
  if (error instanceof TalosError) return error;
  if (!isServiceError(error)) return new TalosError("internal", `${node}: ${String(error)}`, { node, cause: error });
  if (error.code === status.UNAVAILABLE) {
    // TLS and socket faults arrive as UNAVAILABLE with the cause in the text only.
    const cause = fromNodeErrorText(error.details, node, error);
    if (cause !== undefined) return cause;
  }
  const [, seconds] = /^Deadline exceeded after ([\d.]+)s/.exec(error.details) ?? [];
  if (error.code === status.DEADLINE_EXCEEDED && seconds !== undefined)
    return new TalosError("deadline-exceeded", `${node}: no answer within ${Number(seconds)} s`, {
      node,
      cause: error,
    });
  // A server that goes down in the middle of a call ends the stream without a status.
  if (error.code === status.INTERNAL && error.details.includes("RST_STREAM")) {
    return new TalosError("unavailable", `${node}: the connection was cut`, { node, cause: error });
  }
  return fromStatus(error.code, error.details, node, error);
}

/** The same for a status inside a fan-out reply. */
export function fromStatus(code: number, message: string, node: string, cause?: unknown): TalosError {
  // Talos calls it a precondition, but no waiting will ever meet it.
  const ours = message.includes("not supported in container mode") ? "unimplemented" : (codes[code] ?? "internal");
  return new TalosError(ours, `${node}: ${message}`, { node, cause });
}

function isServiceError(error: unknown): error is { code: number; details: string } {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "number" &&
    "details" in error &&
    typeof error.details === "string"
  );
}
