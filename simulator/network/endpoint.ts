// SPDX-License-Identifier: Apache-2.0
import type { Socket, Server as TcpServer } from "node:net";

/** What an endpoint does with new connections: serve them, or misbehave as a fault says. */
export type Manners = "serve" | "reset" | "silent";

/** How long calls that are under way may still get their answer after the port is closed. */
const grace = 50;

/**
 * Starts a server on an address; resolves when it listens, with what closes it. The port is free at once, the
 * connections are dropped a moment later: a machine's last answers leave before it goes down.
 */
export async function listen(
  server: TcpServer,
  host: string,
  port: number,
  manners: () => Manners,
): Promise<() => Promise<void>> {
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
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, grace);
    });
}
