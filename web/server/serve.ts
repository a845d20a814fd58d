// SPDX-License-Identifier: Apache-2.0
import { serve as listen } from "@hono/node-server";
import { TalosError } from "../../talos/errors.ts";
import { type AppOptions, UiApp } from "./app.ts";
import { hostNames } from "./guard.ts";

export interface ServeOptions extends Omit<AppOptions, "hosts"> {
  /** @default 127.0.0.1 */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
}

export interface RunningUi {
  /** Without the token. */
  readonly address: string;
  close(): Promise<void>;
}

/** Opens the page on loopback, or where it is told to. */
export async function serveUi({ host = "127.0.0.1", port, ...options }: ServeOptions): Promise<RunningUi> {
  // The port is a part of the host names that are ours, and is known only when it is open.
  let app: UiApp | undefined;
  const server = listen({
    fetch: (request) => app?.hono.fetch(request) ?? new Response(null, { status: 503 }),
    hostname: host,
    port,
  });
  const opened = await new Promise<number>((resolve, reject) => {
    server.once("error", (cause: Error) => {
      reject(
        new TalosError("unavailable", `cannot listen on ${host}:${port}: ${cause.message}`, {
          hint: "Choose another port with --port.",
          cause,
        }),
      );
    });
    server.once("listening", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
  app = new UiApp({ ...options, hosts: hostNames(host, opened) });
  const running = app;
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${opened}/`,
    async close() {
      await running.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}
