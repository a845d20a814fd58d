// SPDX-License-Identifier: Apache-2.0
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from "node:tls";
import { CallError } from "../machine/call-error.ts";
import type { IncomingCall } from "../services/dispatch.ts";
import { createGrpcServer } from "./grpc-server.ts";

/** Servers that real machines have beside the two APIs, and that nobody but other machines talks to. */
export type SideService = "trustd" | "etcd" | "kubelet";

/**
 * A port behind which the TLS server is made when the first connection comes: a thousand idle machines have thousands of
 * these ports and no certificate for any.
 */
export function createSideServer(service: SideService, tls: () => TlsOptions | undefined, token: () => string): Server {
  let inner: TlsServer | undefined;
  return createServer((socket) => {
    const options = tls();
    if (options === undefined) {
      socket.destroy();
      return;
    }
    inner ??= makers[service](options, token);
    inner.emit("connection", socket);
  });
}

const makers: Readonly<Record<SideService, (tls: TlsOptions, token: () => string) => TlsServer>> = {
  /** Strangers are told so, as by a kubelet without anonymous access. */
  kubelet(tls) {
    return createHttpsServer(tls, (_, response) => {
      response.writeHead(401, { "content-type": "text/plain; charset=utf-8" });
      response.end("Unauthorized");
    });
  },

  /** Lets in only who has a certificate of etcd's CA. There is no etcd behind it: it hangs up. */
  etcd(tls) {
    const server = createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (socket) => socket.end());
    server.on("tlsClientError", () => undefined);
    return server;
  },

  trustd(tls, token) {
    const serve = async function* (call: IncomingCall): AsyncGenerator<Buffer> {
      yield await Promise.reject(trustdRefusal(call, token()));
    };
    const { server } = createGrpcServer(
      tls,
      serve,
      () => false,
      () => undefined,
    );
    return server;
  },
};

/** Machines of the simulator get their certificates without asking; whoever else asks is answered as far as true. */
function trustdRefusal({ path, metadata }: IncomingCall, token: string): CallError {
  const given = metadata.get("token")?.[0];
  if (given !== token) return new CallError("Unauthenticated", given === undefined ? "missing token" : "invalid token");
  if (path !== "/securityapi.SecurityService/Certificate")
    return new CallError("Unimplemented", `unknown method ${path}`);
  return new CallError("Unimplemented", "the simulator signs certificates for its own machines only");
}
