// SPDX-License-Identifier: Apache-2.0
// connections.test.ts runs it in its own process: a segmentation fault would end the test's.
import { once } from "node:events";
import { connect } from "node:net";
import { mutualCredentials } from "../../../talos/api/channel-credentials.ts";
import { Connections } from "../../../talos/api/connections.ts";
import { adminCredentials, leaf, startServer, testAuthority } from "./talos-server.ts";

const ca = testAuthority();
const server = await startServer(leaf(ca, { server: "127.0.0.1" }), ca, {});
const admin = adminCredentials(ca);

for (let count = 0; count < 20; count += 1) {
  const connections = new Connections();
  const credentials = connections.follow(mutualCredentials(admin, "127.0.0.1"));
  const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1");
  await once(socket, "connect");
  const target = { scheme: "dns", path: server.address };
  await credentials._createSecureConnector(target, { "grpc.ssl_target_name_override": "talos" }).connect(socket);
  // Still inside the call of OpenSSL that completed the handshake.
  connections.close();
  await new Promise((resolve) => setImmediate(resolve));
}
process.exit(0);
