// SPDX-License-Identifier: Apache-2.0

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultTimings, scaleTimings } from "../../simulator/index.ts";
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
    lab = await Laboratory.open("operator", { timings: scaleTimings(defaultTimings, 0.3) });
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

  const helm = () => ({
    TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
    STAND_IN_HELM: join(scene.folder, "releases.json"),
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
    operator = scene.operate({ env: helm() });
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
    operator = scene.operate({ env: helm() });
    const before = await scene.get("TalosCluster", "lab");
    await scene.patch("TalosCluster", "lab", { metadata: { annotations: { "example.com/touched": "yes" } } });
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { certSans: ["lab.example.com"] } } });
    const ready = await scene.eventually("TalosCluster", "lab", isReady);
    expect(ready.status?.readySince).toBe(before?.status?.readySince);
    expect(await scene.events("lab")).toContain("Updated");
  });

  test("is written only when something has changed", async () => {
    const looks = () =>
      operator.record.timed.find(({ operation, outcome }) => operation === "look" && outcome === "success")?.count ?? 0;
    const versions = async () => {
      const things = [...(await scene.list("TalosCluster")), ...(await scene.list("TalosMachine"))];
      return things.map(({ metadata }) => metadata.resourceVersion);
    };
    await scene.patch("TalosCluster", "lab", { metadata: { annotations: { "example.com/look": "again" } } });
    const [before, begun] = [await versions(), looks()];
    await scene.until("it was observed again", async () => looks() > begun + 1);
    expect(await versions()).toEqual(before);
  });

  test("takes patches that hold secrets from the Secret with the bundle", async () => {
    const patch =
      "machine: { registries: { config: { registry.example.com: { auth: { password: hunter2-in-a-secret } } } } }";
    const path = `/api/v1/namespaces/${scene.namespace}/secrets/lab-talos-secrets`;
    const body = { data: { "patches.yaml": Buffer.from(patch).toString("base64") } };
    await scene.api.call(path, { method: "PATCH", body });
    await scene.patch("TalosCluster", "lab", { metadata: { annotations: { "example.com/patched": "yes" } } });
    await scene.until("the machines have it", async () => {
      const told = scene.log.filter(({ message }) => message.startsWith("apply config to m-1")).length;
      return told > 1 && isReady(await scene.get("TalosCluster", "lab"));
    });
    const everything = JSON.stringify([await scene.list("TalosCluster"), await scene.list("TalosMachine"), scene.log]);
    expect(everything).not.toContain("hunter2");
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

  test("machines that Terraform makes are not created with a state that goes with the operator's pod", async () => {
    const spec = {
      manage: "Create",
      infrastructure: { kind: "libvirt", trustOnFirstUse: true },
      controlPlane: { count: 1 },
    };
    await scene.apply("TalosCluster", "cloud", spec);
    const invalid = await scene.eventually("TalosCluster", "cloud", phaseIs("Invalid"));
    expect(conditionOf(invalid, "SpecValid")?.message).toContain(
      'spec.backend.kind: found "local", expected s3 or http',
    );
    await scene.delete("TalosCluster", "cloud");
    await scene.eventually("TalosCluster", "cloud", (thing) => thing === undefined);
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

  test("a TalosEtcdBackup takes one backup, and says where it is", async () => {
    await scene.patch("TalosCluster", "lab", { spec: { backup: { directory: join(scene.folder, "backups") } } });
    await scene.apply("TalosEtcdBackup", "before", { clusterRef: { name: "lab" } });
    const taken = await scene.eventually("TalosEtcdBackup", "before", phaseIs("Succeeded"));
    expect(taken.status).toMatchObject({
      place: join(scene.folder, "backups"),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(readdirSync(join(scene.folder, "backups"))).toContain(`${String(taken.status?.id)}.db`);
    expect(conditionOf(taken, "Complete")?.status).toBe("True");
    await scene.apply("TalosEtcdBackup", "nowhere", { clusterRef: { name: "other" } });
    const waiting = await scene.eventually("TalosEtcdBackup", "nowhere", phaseIs("Pending"));
    expect(conditionOf(waiting, "Complete")?.message).toBe("TalosCluster other is not there");
  });

  test("a TalosEtcdBackupSchedule creates backups at its times, and keeps as many as it says", async () => {
    const spec = { clusterRef: { name: "lab" }, schedule: "0 0 1 1 *", historyLimit: 1 };
    await scene.apply("TalosEtcdBackupSchedule", "yearly", spec);
    await scene.eventually("TalosEtcdBackupSchedule", "yearly", isReady);
    const due = async (year: string) => {
      const status = { lastScheduleTime: `${year}-06-01T00:00:00Z` };
      await scene.patch("TalosEtcdBackupSchedule", "yearly", { status }, "/status");
      await scene.patch("TalosEtcdBackupSchedule", "yearly", { metadata: { annotations: { year } } });
      const time = Date.UTC(Number(year) + 1, 0, 1) / 60_000;
      await scene.eventually("TalosEtcdBackup", `yearly-${time}`, phaseIs("Succeeded"));
      return `yearly-${time}`;
    };
    await due("2024");
    const last = await due("2025");
    const own = async () =>
      (await scene.list("TalosEtcdBackup")).filter(({ metadata }) => metadata.name.startsWith("yearly"));
    await scene.until("the older one is deleted", async () => (await own()).length === 1);
    expect((await own())[0]?.metadata.name).toBe(last);
    const status = (await scene.get("TalosEtcdBackupSchedule", "yearly"))?.status;
    expect(status).toMatchObject({ lastBackup: last, lastSuccessfulTime: expect.any(String) });
  });

  test("backup.schedule of the spec is a schedule of the cluster's name", async () => {
    await scene.patch("TalosCluster", "lab", { spec: { backup: { schedule: "0 3 * * *" } } });
    const made = await scene.eventually("TalosEtcdBackupSchedule", "lab", isReady);
    expect(made.spec).toMatchObject({ schedule: "0 3 * * *", timeZone: "UTC", clusterRef: { name: "lab" } });
    await scene.patch("TalosCluster", "lab", { spec: { backup: { schedule: null } } });
    await scene.eventually("TalosEtcdBackupSchedule", "lab", (thing) => thing === undefined);
  });

  test("a TalosClusterAddon is a Helm release, which a deploy of the cluster leaves and a deletion uninstalls", async () => {
    const addon = { clusterRef: { name: "lab" }, chart: "oci://charts.example.com/web", version: "1.0.0" };
    await scene.apply("TalosClusterAddon", "web", addon);
    const deployed = await scene.eventually("TalosClusterAddon", "web", isReady);
    expect(deployed.status).toMatchObject({ phase: "Deployed", release: "web", releaseNamespace: "web", revision: 1 });
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { certSans: ["web.example.com"] } } });
    await scene.eventually("TalosCluster", "lab", isReady);
    await scene.patch("TalosClusterAddon", "web", { spec: { version: "1.1.0" } });
    const changed = await scene.eventually("TalosClusterAddon", "web", isReady);
    expect(changed.status).toMatchObject({ revision: 2, chart: "oci://charts.example.com/web-1.1.0" });
    await scene.delete("TalosClusterAddon", "web");
    await scene.eventually("TalosClusterAddon", "web", (thing) => thing === undefined);
    expect(readFileSync(join(scene.folder, "releases.json"), "utf8")).toBe("{}");
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
