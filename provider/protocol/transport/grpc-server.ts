// SPDX-License-Identifier: Apache-2.0
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";

/**
 * Bytes of a message in, bytes of a message out. A call that streams gives messages to `send` before, and may end without
 * one of its own.
 */
export type CallHandler = (message: Uint8Array, send: (message: Uint8Array) => void) => Promise<Uint8Array | undefined>;

export interface GrpcServerOptions {
  /** Undefined: there is no such call. */
  readonly handler: (path: string) => CallHandler | undefined | Promise<CallHandler | undefined>;
  /** Streams that are opened and never used: go-plugin's stdio and broker. */
  readonly idleStreams: ReadonlySet<string>;
  /** Absent: no TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientCertificate: Buffer } | undefined;
  /** The call to this path was answered, and the answer is on its way. */
  readonly onAnswered?: (path: string) => void;
  readonly onFirstSessionOpened?: () => void;
  readonly onLastSessionClosed: () => void;
}

const status = { ok: "0", invalidArgument: "3", unimplemented: "12", internal: "13" } as const;

/**
 * As much of gRPC as a provider needs, on Node's own HTTP/2: one message in, without compression, of any size. The gRPC
 * package would take as long to load as everything else together.
 */
export function createGrpcServer(options: GrpcServerOptions): Http2Server {
  // Terraform sends states of many megabytes: windows that large values do not have to wait for.
  const http2 = {
    maxSessionMemory: 4096,
    settings: { initialWindowSize: 16 * 1024 * 1024, maxConcurrentStreams: 4096 },
  };
  const server =
    options.tls === undefined
      ? createServer(http2)
      : createSecureServer({
          ...http2,
          key: options.tls.key,
          cert: options.tls.certificate,
          // The client is known by its exact certificate. An empty list keeps Node from reading all root certificates.
          ca: [],
          requestCert: true,
          rejectUnauthorized: false,
          minVersion: "TLSv1.2",
        });
  let sessions = 0;
  server.on("session", (session: ServerHttp2Session) => {
    if (options.tls !== undefined && !isClient(session.socket as TLSSocket, options.tls.clientCertificate)) {
      session.destroy();
      return;
    }
    sessions += 1;
    if (sessions === 1) options.onFirstSessionOpened?.();
    session.setLocalWindowSize(64 * 1024 * 1024);
    session.on("stream", (stream: ServerHttp2Stream, headers) => serveStream(stream, headers[":path"] ?? "", options));
    session.on("error", () => session.destroy());
    session.on("close", () => {
      sessions -= 1;
      if (sessions === 0) options.onLastSessionClosed();
    });
  });
  return server as Http2Server;
}

function isClient(socket: TLSSocket, expected: Buffer): boolean {
  const { raw } = socket.getPeerCertificate() as { raw?: Buffer };
  return raw?.equals(expected) ?? false;
}

function serveStream(stream: ServerHttp2Stream, path: string, options: GrpcServerOptions): void {
  // A caller that goes away takes its stream along; the operation ends by itself and its answer is dropped.
  stream.on("error", () => undefined);
  if (options.idleStreams.has(path)) {
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    stream.resume();
    return;
  }
  const parts: Buffer[] = [];
  stream.on("data", (part: Buffer) => parts.push(part));
  stream.on("end", () => {
    answer(stream, path, Buffer.concat(parts), options).catch((error: unknown) =>
      fail(stream, status.internal, error instanceof Error ? error.message : String(error)),
    );
  });
}

async function answer(
  stream: ServerHttp2Stream,
  path: string,
  body: Buffer,
  { handler, onAnswered }: GrpcServerOptions,
): Promise<void> {
  const handle = await handler(path);
  if (handle === undefined) return fail(stream, status.unimplemented, `${path} is not implemented`);
  const message = unframe(body);
  if (message === undefined) return fail(stream, status.invalidArgument, "not one uncompressed gRPC message");
  const reply = await handle(message, (part) => {
    if (stream.destroyed) return;
    if (!stream.headersSent) begin(stream);
    stream.write(frame(part));
  });
  stream.once("close", () => onAnswered?.(path));
  succeed(stream, reply);
}

function unframe(body: Buffer): Buffer | undefined {
  if (body.length < 5 || body[0] !== 0 || body.readUInt32BE(1) !== body.length - 5) return undefined;
  return body.subarray(5);
}

/** In one piece, so that a small answer is one write; to copy a large one takes no time beside its transport. */
function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(5 + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

function begin(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status.ok }));
}

function succeed(stream: ServerHttp2Stream, message: Uint8Array | undefined): void {
  if (stream.destroyed) return;
  if (!stream.headersSent) begin(stream);
  if (message === undefined) stream.end();
  else stream.end(frame(message));
}

function fail(stream: ServerHttp2Stream, code: string, message: string): void {
  // What has begun to stream ends with what it has.
  if (stream.headersSent) stream.destroy();
  if (stream.destroyed) return;
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": code,
      "grpc-message": encodeURIComponent(message),
    },
    { endStream: true },
  );
}
