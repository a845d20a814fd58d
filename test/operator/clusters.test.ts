// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KubernetesClient } from "../simulator/kubernetes-client.ts";
import { Laboratory } from "../simulator/laboratory.ts";
import { conditionOf, isReady, Scene } from "./scene.ts";

/** TalosClusters of metal machines, on the API of a simulated cluster that has the custom resources. */
describe("a TalosCluster", () => {
  const { TMPDIR } = process.env;
  let lab: Laboratory;
  let scene: Scene;
  const addresses = new Map<string, string>();

  beforeAll(async () => {
    lab = await Laboratory.open("operator");
    const [first] = await lab.cluster(1, 0);
    const host = first?.address ?? "";
    const { identity } = await KubernetesClient.open(lab, host);
    const { ca, cert: certificate, key } = identity;
    scene = await Scene.open({ servers: [`https://${host}:6443`], ca, certificate, key });
    // Runs on one computer keep apart by a lock there, by CA; other tests, and other checkouts, have the same CA.
    process.env.TMPDIR = scene.folder;
    for (const name of ["m-1", "m-2", "m-3"]) addresses.set(name, (await lab.machine(name)).address);
  });

  afterAll(async () => {
    await scene.close();
    await lab.close();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });

  const spec = (names: readonly string[], more: object = {}) => ({
    manage: "Create",
    infrastructure: {
      kind: "metal",
      trustOnFirstUse: true,
      machines: Object.fromEntries(
        names.map((name, index) => [
          name,
          { address: addresses.get(name), role: index === 0 ? "controlplane" : "worker" },
        ]),
      ),
    },
    controlPlane: {},
    workers: [{ name: "w" }],
    operate: { interval: "5s" },
    ...more,
  });

  test("comes up from nothing, and says so in its status, Events, machines and Secrets", async () => {
    scene.operate();
    await scene.apply("TalosCluster", "lab", spec(["m-1", "m-2"]));
    const ready = await scene.eventually("TalosCluster", "lab", isReady);
    expect(ready.status).toMatchObject({ phase: "Ready", machines: 2, readyMachines: 2, machineSummary: "2/2" });
    expect(conditionOf(ready, "EtcdHealthy")?.status).toBe("True");
    expect(await scene.events("lab")).toEqual(expect.arrayContaining(["Creating", "StepFinished", "Created", "Ready"]));
    const machines = await scene.list("TalosMachine");
    expect(machines.map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual([
      ["lab-m-1", "Running"],
      ["lab-m-2", "Running"],
    ]);
    expect(machines[0]?.metadata.ownerReferences?.[0]).toMatchObject({ kind: "TalosCluster", name: "lab" });
    expect(Object.keys((await scene.secret("lab-talos-secrets"))?.data ?? {})).toEqual(["secrets.yaml"]);
    expect(Object.keys((await scene.secret("lab-kubeconfig"))?.data ?? {})).toEqual(["value"]);
    expect(Object.keys((await scene.secret("lab-talosconfig"))?.data ?? {})).toEqual(["talosconfig"]);
  });
});
