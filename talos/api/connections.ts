// SPDX-License-Identifier: Apache-2.0
import type { Socket } from "node:net";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { TalosError } from "../errors.ts";

/**
 * The sockets of one client. The library loses some of them for the life of the process: of a machine that refuses our
 * certificate after the handshake (TLS 1.3 tells it only then), of one that falls silent during it, and of an attempt
 * that is under way when the client is closed.
 */
export class Connections {
  readonly #sockets = new Set<Socket>();
  #closed = false;

  /** The same credentials, whose sockets are followed from now on. */
  follow(credentials: ChannelCredentials): ChannelCredentials {
    const create = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...args) => {
      const connector = create(...args);
      const connect = connector.connect.bind(connector);
      connector.connect = async (socket) => {
        this.#own(socket);
        const connected = await connect(socket);
        this.#own(connected.socket);
        return connected;
      };
      return connector;
    };
    return credentials;
  }

  /** Ends all of them, and those that are still to come. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #own(socket: Socket): void {
    socket.once("close", () => this.#sockets.delete(socket));
    socket.once("error", () => socket.destroy());
    this.#sockets.add(socket);
    if (!this.#closed) return;
    socket.destroy();
    throw new TalosError("canceled", "the client was closed");
  }
}
