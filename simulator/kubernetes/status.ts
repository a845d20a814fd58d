// SPDX-License-Identifier: Apache-2.0

/** A Kubernetes API error: HTTP status, reason and words, as `Status` objects carry them. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: number, reason: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export function statusObject(error: ApiError): Readonly<Record<string, unknown>> {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: error.message,
    reason: error.reason,
    details: error.details,
    code: error.code,
  };
}
