// SPDX-License-Identifier: Apache-2.0
// The start file: as little as a handshake needs. The provider itself is a file of its own beside it.
import { temporaryFolder } from "../talos/process-folder.ts";
import { listen } from "./protocol/transport/index.ts";

try {
  listen(async () => (await import("./session.ts")).talosmithSession(), {
    socketFolder: (parent) => temporaryFolder("provider", parent),
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
