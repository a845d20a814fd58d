// SPDX-License-Identifier: Apache-2.0
import type { Http2ServerResponse } from "node:http2";
import type { Tree } from "../machine/world.ts";

const codes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  Conflict: 409,
  AlreadyExists: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

type Reason = keyof typeof codes;

/** A Kubernetes API error: HTTP status, reason and words, as `Status` objects carry them. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly reason: Reason;
  readonly details: Tree | undefined;

  constructor(reason: Reason, message: string, details?: Tree) {
    super(message);
    this.code = codes[reason];
    this.reason = reason;
    this.details = details;
  }
}

export function statusObject(error: ApiError): Tree {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: error.message,
    // Errors that the server does not expect have none.
    ...(error.reason === "InternalError" ? {} : { reason: error.reason }),
    ...(error.details === undefined ? {} : { details: error.details }),
    code: error.code,
  };
}

/** What the server says of a path of a known group that leads nowhere. */
export function notServed(): ApiError {
  return new ApiError("NotFound", "the server could not find the requested resource", {});
}

/** How the server answers whatever is not a stream. */
export function send(response: Http2ServerResponse, code: number, type: string, text: string | Buffer): void {
  response.statusCode = code;
  response.setHeader("content-type", type);
  response.end(text);
}

export function sendJson(response: Http2ServerResponse, code: number, body: unknown): void {
  send(response, code, "application/json", JSON.stringify(body));
}
