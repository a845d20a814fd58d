// SPDX-License-Identifier: Apache-2.0
import type { Socket, Server as TcpServer } from "node:net";
import { type SecureContextOptions, Server as TlsServer } from "node:tls";

/** What an endpoint does with new connections: serve them, or misbehave as a fault says. */
export type Manners = "serve" | "reset" | "silent";

/** How long what is still being sent may take after the last call was answered. */
const flushTime = 30;

export interface Endpoint {
  /** The port is free at once. `abrupt` is a power cut; else calls under way get their answer first. */
  close(abrupt: boolean): Promise<void>;
  /** From now on nobody reads what comes in on any connection, and nobody says so: half-open. */
  mute(): void;
  /** Other certificates for connections to come. */
  readonly renew?: ((tls: SecureContextOptions) => void) | undefined;
}

/** Starts a server on an address; resolves when it listens. `drain` resolves when its calls under way are answered. */
export async function listen(
  server: TcpServer,
  host: string,
  port: number,
  manners: () => Manners,
  drain: () => Promise<void>,
): Promise<Endpoint> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const behaviour = manners();
    if (behaviour === "reset") socket.resetAndDestroy();
    // TLS takes the socket over in this turn of the loop and starts to read; only then can reading be stopped.
    if (behaviour === "silent") setImmediate(() => stopReading(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  return {
    async close(abrupt) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (!abrupt) {
        await drain();
        await new Promise((resolve) => setTimeout(resolve, flushTime));
      }
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mute() {
      for (const socket of sockets) stopReading(socket);
    },
    renew: server instanceof TlsServer ? (tls) => server.setSecureContext(tls) : undefined,
  };
}

/** Below TLS and HTTP/2, where even keep-alive pings stay unread. There is no public way to it: `pause` acts above. */
function stopReading(socket: Socket): void {
  (socket as Socket & { _handle?: { readStop(): void } | null })._handle?.readStop();
}
