// SPDX-License-Identifier: Apache-2.0

/** gRPC's status codes by their names in Go, which is how talosctl prints them. */
export const statusCodes = {
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;

export type StatusName = keyof typeof statusCodes;

/** A call that the machine refuses or fails, with the code and the words that a real one answers. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly status: StatusName;

  constructor(status: StatusName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }

  /** As Go prints a gRPC error. */
  get goText(): string {
    return `rpc error: code = ${this.status} desc = ${this.message}`;
  }

  static from(error: unknown): CallError {
    if (error instanceof CallError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new CallError("Unknown", message, { cause: error });
  }
}
