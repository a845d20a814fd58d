// SPDX-License-Identifier: Apache-2.0
// A process of its own, so that its start counts as the start of talosctl does. Arguments: secrets file, machines.
import { generateMachineConfig } from "../../talos/config/index.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { defaultTalosVersion } from "../../talos/version/index.ts";

const [file = "", machines = "0"] = process.argv.slice(2);
const secrets = await secretsStore({ kind: "file", path: file }).read();
const cluster = {
  clusterName: "bench",
  endpoint: "https://192.0.2.1:6443",
  talosVersion: defaultTalosVersion,
  kubernetesVersion: defaultTalosVersion.defaultKubernetesVersion,
};
let bytes = 0;
for (let i = 0; i < Number(machines); i++) {
  const type = i < 3 ? ("controlplane" as const) : ("worker" as const);
  bytes += generateMachineConfig(cluster, secrets, { type, hostname: `bench-${i}` }).length;
}
if (bytes < Number(machines) * 1000) throw new Error(`only ${bytes} bytes were made`);
