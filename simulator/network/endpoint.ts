// SPDX-License-Identifier: Apache-2.0
import type { Socket, Server as TcpServer } from "node:net";

/** What an endpoint does with new connections: serve them, or misbehave as a fault says. */
export type Manners = "serve" | "reset" | "silent";

/** How long what is still being sent may take after the last call was answered. */
const flushTime = 30;

/** Closes an endpoint: its port is free at once. `abrupt` is a power cut; else calls under way get their answer first. */
export type Close = (abrupt: boolean) => Promise<void>;

/** Starts a server on an address; resolves when it listens. `drain` resolves when its calls under way are answered. */
export async function listen(
  server: TcpServer,
  host: string,
  port: number,
  manners: () => Manners,
  drain: () => Promise<void>,
): Promise<Close> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const behaviour = manners();
    if (behaviour === "reset") socket.resetAndDestroy();
    // Nobody reads or answers any more; the peer only notices by its own patience.
    if (behaviour === "silent") socket.pause();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  return async (abrupt) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if (!abrupt) {
      await drain();
      await new Promise((resolve) => setTimeout(resolve, flushTime));
    }
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}
