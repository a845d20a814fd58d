// SPDX-License-Identifier: Apache-2.0
import { type Attributes, type Provider, Server } from "../framework/index.ts";
import { createLog } from "./hclog.ts";
import { routes } from "./routes.ts";
import { listen, type ServeOptions, type Session } from "./transport/index.ts";

/** A provider behind the RPCs of the plugin protocol. */
export function openSession(provider: Provider<Attributes, unknown>): Session {
  const server = new Server(provider, createLog());
  return {
    handler: (path) => {
      const rpc = routes[path];
      return rpc && ((message) => rpc(server, message));
    },
    stop: () => server.stop(),
  };
}

/** Runs a provider as Terraform's child process, until Terraform says so or is gone. */
export function serve(provider: Provider<Attributes, unknown>, options: ServeOptions): void {
  listen(async () => openSession(provider), options);
}
