// SPDX-License-Identifier: Apache-2.0
// Asks every machine of a talosconfig what it runs, over the Talos API: node --import tsx main.ts <talosconfig>
import { connect } from "../../talos/api/index.ts";
import { readTalosconfig } from "../../talos/config/index.ts";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("which talosconfig? node --import tsx main.ts <talosconfig>");

const { context, contexts } = await readTalosconfig(path);
const { endpoints = [], credentials } = contexts.get(context ?? "") ?? {};
const [endpoint] = endpoints;
if (endpoint === undefined || credentials === undefined) throw new Error(`${path} has no endpoint or no certificate`);

const client = connect(endpoint, { kind: "mtls", credentials });
try {
  for (const { hostname, addresses } of await client.clusterMembers()) {
    const [node] = addresses;
    // The control plane passes the call on to the machine that it is for.
    const call = node === undefined || node === endpoint ? {} : { node };
    const [version, services] = await Promise.all([client.version(call), client.serviceList(call)]);
    const running = services.filter(({ state }) => state === "Running").map(({ id }) => id);
    console.log(`${hostname} ${version.tag}: ${running.join(", ")}`);
  }
} finally {
  client.close();
}
