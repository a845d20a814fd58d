// SPDX-License-Identifier: Apache-2.0
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket, TlsOptions } from "node:tls";
import { gunzipSync } from "node:zlib";
import { CallError, statusCodes } from "../machine/call-error.ts";
import type { IncomingCall } from "../services/dispatch.ts";
import { knownRoles } from "../services/roles.ts";

const maxMessage = 32 * 1024 * 1024;

/** Serves one call: encoded requests in, encoded replies out. */
export type CallHandler = (call: IncomingCall, requests: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

export interface GrpcServer {
  readonly server: Http2SecureServer;
  /** Ends what goes on for ever and resolves when the other calls have their answers. */
  drain(): Promise<void>;
}

/** Whether the method's answer is a stream that may go on for ever. */
export type IsStream = (path: string) => boolean;

/** How replies leave: all at once, or one small piece every so many milliseconds. */
export type Trickle = () => number | undefined;

/**
 * gRPC over node:http2 rather than grpc-js: the simulator decides about the TLS version, alerts, sockets and broken
 * connections itself, and its tests speak to it with an implementation that is not its own.
 */
export function createGrpcServer(
  tls: TlsOptions,
  handle: CallHandler,
  isStream: IsStream,
  trickle: Trickle,
): GrpcServer {
  const server = createSecureServer({ ...tls, minVersion: "TLSv1.3", ALPNProtocols: ["h2"], allowHTTP1: false });
  const calls = new Map<ServerHttp2Stream, string>();
  server.on("stream", (stream, headers) => {
    calls.set(stream, String(headers[":path"]));
    stream.once("close", () => calls.delete(stream));
    stream.on("error", () => stream.destroy());
    serveCall(stream, headers, handle, trickle).catch((error: unknown) => fail(stream, CallError.from(error)));
  });
  server.on("sessionError", () => undefined);
  server.on("tlsClientError", () => undefined);
  return { server, drain: () => drain(calls, isStream) };
}

/** How long a call may keep its machine from cutting the connection; its port is closed by then. */
const drainTime = 5_000;

/** Cuts the streams and waits for the calls that have one answer, until it is sent. */
async function drain(calls: ReadonlyMap<ServerHttp2Stream, string>, isStream: IsStream): Promise<void> {
  const single = [...calls].filter(([stream, path]) => {
    if (isStream(path)) stream.destroy();
    return !isStream(path);
  });
  const answered = single.map(([stream]) => new Promise((resolve) => stream.once("close", resolve)));
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, drainTime);
  });
  await Promise.race([Promise.all(answered), patience]);
  clearTimeout(timer);
}

async function serveCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  handle: CallHandler,
  trickle: Trickle,
): Promise<void> {
  const abort = new AbortController();
  stream.once("close", () => abort.abort());
  const roles = rolesOf(stream.session);
  const metadata = new Map(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value : value === undefined ? [] : [value],
    ]),
  );
  const incoming: IncomingCall = { path: String(headers[":path"]), metadata, roles, signal: abort.signal };
  const timeout = timeoutOf(headers["grpc-timeout"]);
  let expired = false;
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => {
          expired = true;
          fail(stream, new CallError("DeadlineExceeded", "context deadline exceeded"));
          abort.abort();
        }, timeout);
  try {
    for await (const reply of handle(incoming, messagesOf(stream))) {
      if (stream.destroyed || expired) return;
      respond(stream);
      await send(stream, frame(reply), trickle());
    }
    if (stream.destroyed || expired) return;
    respond(stream);
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end();
  } finally {
    clearTimeout(timer);
    // What the client still sends, if only its end, must be taken off the connection for the stream to close.
    stream.resume();
  }
}

function respond(stream: ServerHttp2Stream): void {
  if (stream.headersSent || stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
}

async function send(stream: ServerHttp2Stream, bytes: Buffer, pause: number | undefined): Promise<void> {
  if (pause === undefined) return write(stream, bytes);
  for (let offset = 0; offset < bytes.length && !stream.destroyed; offset += 16) {
    await write(stream, bytes.subarray(offset, offset + 16));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function write(stream: ServerHttp2Stream, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write(bytes, () => resolve());
  });
}

function frame(message: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

function fail(stream: ServerHttp2Stream, error: CallError): void {
  if (stream.destroyed || stream.writableEnded) return;
  const trailers = { "grpc-status": String(statusCodes[error.status]), "grpc-message": percentEncode(error.message) };
  if (stream.headersSent) {
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end();
  } else {
    stream.respond({ ":status": 200, "content-type": "application/grpc", ...trailers }, { endStream: true });
  }
}

/** gRPC's encoding of messages: everything but printable ASCII, and the percent sign, as %XX. */
function percentEncode(text: string): string {
  return [...Buffer.from(text, "utf8")]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}

async function* messagesOf(stream: ServerHttp2Stream): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  // A unary call stops reading after its message; the stream must live on for the reply.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    pending = Buffer.concat([pending, chunk as Buffer]);
    while (pending.length >= 5) {
      const length = pending.readUInt32BE(1);
      if (length > maxMessage) {
        throw new CallError(
          "ResourceExhausted",
          `grpc: received message larger than max (${length} vs. ${maxMessage})`,
        );
      }
      if (pending.length < 5 + length) break;
      const body = pending.subarray(5, 5 + length);
      const compressed = pending[0] === 1;
      pending = pending.subarray(5 + length);
      yield compressed ? gunzipSync(body, { maxOutputLength: maxMessage }) : body;
    }
  }
}

const timeoutUnits: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1 / 1_000,
  n: 1 / 1_000_000,
};

function timeoutOf(header: string | string[] | undefined): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(header ?? "")) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  return Math.min(Number(digits) * (timeoutUnits[unit] ?? 1), 2_147_483_647);
}

const clientAuth = "1.3.6.1.5.5.7.3.2";

/** A connection keeps its certificate; to read it again for every call takes longer than most calls. */
const rolesKnown = new WeakMap<Http2Session, ReadonlySet<string>>();

function rolesOf(session: Http2Session | undefined): ReadonlySet<string> {
  if (session === undefined) return new Set();
  const roles = rolesKnown.get(session) ?? readRoles(session.socket as TLSSocket | undefined);
  rolesKnown.set(session, roles);
  return roles;
}

/**
 * The roles that the client's certificate carries; none without one. A certificate that may do more than authenticate
 * a client is refused, as apid does since 1.12.
 */
function readRoles(socket: TLSSocket | undefined): ReadonlySet<string> {
  const certificate = socket?.getPeerX509Certificate();
  if (socket === undefined || certificate === undefined) return new Set();
  const usages = certificate.keyUsage ?? [];
  if (usages.length !== 1 || usages[0] !== clientAuth) {
    const subject = certificate.subject.split("\n").join(",");
    throw new CallError("PermissionDenied", `certificate "${subject}" is missing the client auth extended key usage`);
  }
  const organizations: unknown = socket.getPeerCertificate().subject?.O;
  if (organizations === undefined) return new Set();
  return knownRoles(Array.isArray(organizations) ? organizations.map(String) : [String(organizations)]);
}
