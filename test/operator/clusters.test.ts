// SPDX-License-Identifier: Apache-2.0

import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ResetRequest } from "../../talos/api/gen/machine/machine.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { issueAdminCredentials } from "../../talos/config/index.ts";
import { keyForNode } from "../../talos/pki/index.ts";
import { parseSecrets } from "../../talos/secrets/index.ts";
import { KubernetesClient } from "../simulator/kubernetes-client.ts";
import { Laboratory, unary } from "../simulator/laboratory.ts";
import { conditionOf, isReady, type Operator, Scene, type Thing } from "./scene.ts";

const phaseIs = (phase: string) => (thing: Thing | undefined) => thing?.status?.phase === phase;

/** TalosClusters of metal machines, on the API of a simulated cluster that has the custom resources. */
describe("a TalosCluster", () => {
  const { TMPDIR } = process.env;
  let lab: Laboratory;
  let scene: Scene;
  let operator: Operator;
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

  const machineId = (name: string) => lab.simulator.listMachines().find((machine) => machine.name === name)?.id ?? "";

  /** As somebody does it who boots a machine from another medium. */
  const reset = async (name: string) => {
    const text = Buffer.from((await scene.secret("lab-talos-secrets"))?.data?.["secrets.yaml"] ?? "", "base64");
    const bundle = parseSecrets(text.toString(), "the Secret");
    const pair = issueAdminCredentials(bundle, { roles: ["os:admin"], clock: systemClock, entropy: systemEntropy });
    const channel = credentials.createSsl(
      Buffer.from(bundle.certs.os.certificate),
      Buffer.from(keyForNode(pair.key)),
      Buffer.from(pair.certificate),
    );
    const machine = lab.machineApi(addresses.get(name) ?? "", channel);
    await unary((done) => machine.reset(ResetRequest.fromPartial({ graceful: false, reboot: true }), done));
    await lab.reach(lab.now(machineId(name)), "maintenance");
  };

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
    cluster: { kubernetesVersion: "1.36.2" },
    controlPlane: {},
    workers: [{ name: "w" }],
    operate: { interval: "5s" },
    ...more,
  });

  test("comes up from nothing, and says so in its status, Events, machines and Secrets", async () => {
    operator = scene.operate();
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

  test("a second operator with an empty folder goes on with what is in the API", async () => {
    await operator.stop();
    operator = scene.operate();
    const before = await scene.get("TalosCluster", "lab");
    await scene.patch("TalosCluster", "lab", { metadata: { annotations: { "example.com/touched": "yes" } } });
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { certSans: ["lab.example.com"] } } });
    const ready = await scene.eventually("TalosCluster", "lab", isReady);
    expect(ready.status?.readySince).toBe(before?.status?.readySince);
    expect(await scene.events("lab")).toContain("Updated");
  });

  test("scales up and down by its spec", async () => {
    await scene.apply("TalosCluster", "lab", spec(["m-1", "m-2", "m-3"]));
    await scene.eventually("TalosCluster", "lab", (thing) => isReady(thing) && thing?.status?.machines === 3);
    await scene.apply("TalosCluster", "lab", spec(["m-1", "m-3"]));
    const less = await scene.eventually(
      "TalosCluster",
      "lab",
      (thing) => isReady(thing) && thing?.status?.machines === 2,
    );
    expect(less.status?.members).toMatchObject([{ name: "m-1" }, { name: "m-3" }]);
    expect((await scene.list("TalosMachine")).map(({ metadata }) => metadata.name)).toEqual(["lab-m-1", "lab-m-3"]);
  });

  test("upgrades, and reports the versions that run", async () => {
    expect((await scene.get("TalosCluster", "lab"))?.status?.kubernetesVersion).toBe("v1.36.2");
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { kubernetesVersion: "1.36.3" } } });
    const ready = await scene.eventually("TalosCluster", "lab", isReady);
    expect(ready.status).toMatchObject({ kubernetesVersion: "v1.36.3" });
  });

  test("a spec with errors is reported, changes nothing, and is mended", async () => {
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { endpoint: "nonsense" } } });
    const invalid = await scene.eventually("TalosCluster", "lab", phaseIs("Invalid"));
    expect(conditionOf(invalid, "SpecValid")).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(conditionOf(invalid, "SpecValid")?.message).toContain("spec.cluster.endpoint");
    expect(conditionOf(invalid, "Ready")?.status).toBe("False");
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { endpoint: null } } });
    await scene.eventually("TalosCluster", "lab", isReady);
  });

  test("pools of their own are referred to, scaled through the scale subresource, and report their machines", async () => {
    await scene.apply("TalosCluster", "lab", { ...spec(["m-1", "m-3"]), workers: [], workerRefs: [{ name: "lab-w" }] });
    const missing = await scene.eventually("TalosCluster", "lab", phaseIs("Invalid"));
    expect(conditionOf(missing, "SpecValid")?.message).toContain("there is no TalosMachinePool lab-w");
    await scene.apply("TalosMachinePool", "lab-w", { replicas: 1, labels: { tier: "web" } });
    await scene.eventually("TalosCluster", "lab", isReady);
    const pool = await scene.eventually("TalosMachinePool", "lab-w", isReady);
    expect(pool.status).toMatchObject({ cluster: "lab", role: "worker", replicas: 1, readyReplicas: 1 });
    expect(pool.status?.selector).toBe("talosmith.dev/cluster=lab,talosmith.dev/pool=w");
    const scale = await scene.patch("TalosMachinePool", "lab-w", { spec: { replicas: 2 } }, "/scale");
    expect(scale).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 1, selector: pool.status?.selector } });
    // Metal machines are listed: a count that is not theirs is an error of the spec.
    await scene.eventually("TalosCluster", "lab", phaseIs("Invalid"));
    await scene.patch("TalosMachinePool", "lab-w", { spec: { replicas: 1 } }, "/scale");
    await scene.eventually("TalosCluster", "lab", isReady);
  });

  test("deleted with Retain it keeps running, and an object of its name takes it over again", async () => {
    const before = await scene.get("TalosCluster", "lab");
    await scene.delete("TalosCluster", "lab");
    await scene.eventually("TalosCluster", "lab", (thing) => thing === undefined);
    expect(await scene.secret("lab-talos-secrets")).toBeDefined();
    expect(await scene.events("lab")).toContain("Retained");
    await scene.apply("TalosCluster", "lab", { ...spec(["m-1", "m-3"]), workers: [], workerRefs: [{ name: "lab-w" }] });
    const again = await scene.eventually("TalosCluster", "lab", isReady);
    expect(again.metadata.uid).not.toBe(before?.metadata.uid);
    expect(again.status?.readySince).toBe(before?.status?.readySince);
  });

  test("control planes that came back empty are reported, and etcd is not bootstrapped again", async () => {
    await reset("m-1");
    const lost = await scene.eventually("TalosCluster", "lab", phaseIs("RestoreNeeded"));
    expect(conditionOf(lost, "RestoreNeeded")).toMatchObject({ status: "True" });
    expect(conditionOf(lost, "Ready")).toMatchObject({ status: "False", reason: "RestoreNeeded" });
    expect(await scene.events("lab")).toContain("RestoreNeeded");
  });

  test("deleted with Delete it is wiped, once the annotation names it", async () => {
    await scene.patch("TalosCluster", "lab", { spec: { deletionPolicy: "Delete" } });
    await scene.delete("TalosCluster", "lab");
    const held = await scene.eventually(
      "TalosCluster",
      "lab",
      (thing) => conditionOf(thing, "Degraded")?.reason === "ConfirmationNeeded",
    );
    expect(held.metadata.deletionTimestamp).toBeDefined();
    await scene.patch("TalosCluster", "lab", { metadata: { annotations: { "talosmith.dev/confirm-delete": "lab" } } });
    await scene.eventually("TalosCluster", "lab", (thing) => thing === undefined);
    const stages = ["m-1", "m-3"].map((name) => lab.now(machineId(name)).life.stage);
    expect(stages).toEqual(["maintenance", "maintenance"]);
    await scene.until(
      "the Secret goes with the object",
      async () => (await scene.secret("lab-talos-secrets")) === undefined,
    );
  });
});
