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
  return fromStatus(error.code, error.details, node, error);
}

/** The same for a status inside a fan-out reply. */
export function fromStatus(code: number, text: string, node: string, cause?: unknown): TalosError {
  const message = unwrapped(text);
  // TLS and socket errors arrive as UNAVAILABLE with the cause in the text only.
  const ofSocket = code === status.UNAVAILABLE ? fromNodeErrorText(message, node, cause) : undefined;
  if (ofSocket !== undefined) return ofSocket;
  const known = libraryTexts.find((one) => one.pattern.test(message));
  if (known !== undefined) {
    const says = message.replace(known.pattern, known.says);
    return new TalosError(known.code ?? codes[code] ?? "internal", `${node}: ${says}`, { node, cause });
  }
  // Talos calls it a precondition, but no waiting will ever meet it.
  const ours = message.includes("not supported in container mode") ? "unimplemented" : (codes[code] ?? "internal");
  return new TalosError(ours, `${node}: ${message}`, { node, cause });
}

/** Without what Go's gRPC puts around the words of a server, which may itself have asked another. */
function unwrapped(text: string): string {
  const [, inner] =
    /^rpc error: code = \w+ desc = (.*)$/s.exec(text) ??
    /^connection error: desc = "(?:transport: )?(.*)"$/s.exec(text) ??
    [];
  return inner === undefined ? text : unwrapped(inner);
}

interface LibraryText {
  readonly pattern: RegExp;
  /** May refer to groups of the pattern. */
  readonly says: string;
  /** @default - by the status of the call */
  readonly code?: TalosErrorCode;
}

/** What the libraries of gRPC say by themselves, in their own words. What a machine says is shown as it is. */
const libraryTexts: readonly LibraryText[] = [
  { pattern: /^Deadline exceeded after (\d+(?:\.\d*[1-9])?)\.?0*s.*$/s, says: "no answer within $1 s" },
  { pattern: /^(?:Deadline exceeded|context deadline exceeded).*$/is, says: "no answer in time" },
  { pattern: /^Name resolution failed for target .*$/s, says: "the host name is not known" },
  { pattern: /^No connection established.*$/s, says: "no connection could be made" },
  {
    pattern: /^Received HTTP status code (\d+).*$/s,
    says: "it answers with HTTP status $1: this is not the Talos API",
  },
  // A server that goes down in the middle of a call ends the stream without a status.
  {
    pattern:
      /^(?:.*RST_STREAM|Connection dropped|Stream refused by server|No status information received|Failed to start HTTP\/2 stream|Write (?:error|failed)|error reading (?:from server|server preface)).*$/s,
    says: "the connection was cut",
    code: "unavailable",
  },
];

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
