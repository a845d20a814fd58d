// SPDX-License-Identifier: Apache-2.0
// Makes the requests of scripts/recording on the API server of a kubeconfig and records the answers in
// test/golden/kubernetes, with which npm test compares the simulator.
import { mkdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { writeFileAtomically } from "../talos/atomic-file.ts";
import { KubernetesClient } from "../test/simulator/kubernetes-client.ts";
import { play } from "./recording/exchange.ts";
import { scenes } from "./recording/scenes.ts";

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    only: { type: "string", multiple: true },
    to: { type: "string", default: "test/golden/kubernetes" },
  },
});
if (values.kubeconfig === undefined)
  throw new Error("--kubeconfig: found nothing, expected the kubeconfig of a cluster with real Kubernetes");
const client = KubernetesClient.of(readFileSync(values.kubeconfig, "utf8"));
mkdirSync(values.to, { recursive: true });
for (const scene of scenes) {
  if (values.only !== undefined && !values.only.includes(scene.name)) continue;
  const recorded = await play(client, scene);
  await writeFileAtomically(`${values.to}/${scene.name}.json`, `${JSON.stringify(recorded, undefined, 2)}\n`);
  console.log(`${scene.name}: ${Object.keys(recorded).length} answers`);
}
