// SPDX-License-Identifier: Apache-2.0
import type { Socket } from "node:net";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { TalosError } from "../errors.ts";

/** Milliseconds. Longer than a session takes to end, and longer than any handshake takes. */
const grace = { connected: 2000, connecting: 30_000 };

/**
 * The sockets of one client. The library loses some of them for the life of the process: of a machine that refuses our
 * certificate after the handshake (TLS 1.3 tells it only then), of one that falls silent during it, and of an attempt
 * that is under way when the client is closed.
 */
export class Connections {
  readonly #sockets = new Map<Socket, keyof typeof grace>();
  #closed = false;

  /** The same credentials, whose sockets are followed from now on. */
  follow(credentials: ChannelCredentials): ChannelCredentials {
    const create = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...args) => {
      const connector = create(...args);
      const connect = connector.connect.bind(connector);
      connector.connect = async (socket) => {
        this.#own(socket, "connecting");
        const connected = await connect(socket);
        this.#sockets.delete(socket);
        this.#own(connected.socket, "connected");
        return connected;
      };
      return connector;
    };
    return credentials;
  }

  /**
   * Ends all of them, and those that are still to come, later and from a timer. A TCP socket that is destroyed before its
   * TLS socket makes Node free OpenSSL's state at once; in a callback of OpenSSL, which is where the last answer is read,
   * the process can then end with a segmentation fault. What is open after a while, the library has lost.
   */
  close(): void {
    this.#closed = true;
    for (const [socket, state] of this.#sockets) setTimeout(() => socket.destroy(), grace[state]).unref();
  }

  #own(socket: Socket, state: keyof typeof grace): void {
    socket.once("close", () => this.#sockets.delete(socket));
    this.#sockets.set(socket, state);
    if (!this.#closed) return;
    socket.destroy();
    throw new TalosError("canceled", "the client was closed");
  }
}
