// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubernetesLease, systemTiming } from "../../engine/index.ts";
import { defaultTimings, scaleTimings } from "../../simulator/index.ts";
import { whileLeading } from "../../watch/index.ts";
import { documentsOf } from "../deploy/manifests.ts";
import { Laboratory } from "../simulator/laboratory.ts";
import { kubeconfigOf, RealApi, realPrograms } from "./real-api.ts";
import { type Access, conditionOf, isReady, type Operator, Scene, type Thing } from "./scene.ts";

const programs = realPrograms();
const run = promisify(execFile);
const paths: Readonly<Record<string, string>> = {
  ServiceAccount: "/api/v1",
  Role: "/apis/rbac.authorization.k8s.io/v1",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1",
};

/** Makes the operator's service account with its Role, and gives a token of it. */
async function tokenOf({ api, namespace }: Scene): Promise<() => Promise<string>> {
  for (const manifest of documentsOf("deploy/kustomize/objects/rbac.yaml")) {
    const plural = `${manifest.kind.toLowerCase()}s`;
    const subjects = manifest.subjects?.map((subject) => ({ ...subject, namespace }));
    const body = { ...manifest, ...(subjects && { subjects }) };
    await api.call(`${paths[manifest.kind]}/namespaces/${namespace}/${plural}`, { method: "POST", body });
  }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/talosmith/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 7_200 } };
  const { status } = (await api.call(path, { method: "POST", body })) as { status: { token: string } };
  return async () => status.token;
}

const phaseIs = (phase: string) => (thing: Thing | undefined) => thing?.status?.phase === phase;

describe.skipIf(programs === undefined)("on a real kube-apiserver and etcd", () => {
  const { TMPDIR } = process.env;
  let real: RealApi;
  let lab: Laboratory;
  let scene: Scene;
  let operator: Operator;
  let kubeconfig = "";
  /** With the rights that deploy/ gives the operator, and no others. */
  let restricted: Access;
  const addresses = new Map<string, string>();

  beforeAll(async () => {
    if (programs === undefined) return;
    real = await RealApi.open(programs);
    lab = await Laboratory.open("real-api", { timings: scaleTimings(defaultTimings, 0.3) });
    scene = await Scene.open(real.access);
    // Runs on one computer keep apart by a lock there, by CA.
    process.env.TMPDIR = scene.folder;
    for (const name of ["m-1", "m-2", "m-3"]) addresses.set(name, (await lab.machine(name)).address);
    const { servers, ca } = real.access;
    restricted = { servers, ca, token: await tokenOf(scene) };
    const token = "token" in real.access ? await real.access.token() : "";
    kubeconfig = join(scene.folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigOf(servers[0] ?? "", ca, token), { mode: 0o600 });
  });

  afterAll(async () => {
    if (programs === undefined) return;
    await scene.close();
    await lab.close();
    await real.close();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });

  const kubectl = async (...args: string[]) => {
    const flags = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(scene.folder, "cache")}`, "--namespace=clusters"];
    return (await run("kubectl", [...flags, ...args])).stdout;
  };

  const machines = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name, index) => [
        name,
        { address: addresses.get(name), role: index === 0 ? "controlplane" : "worker" },
      ]),
    );
  const spec = (names: readonly string[], more: object = {}) => ({
    manage: "Create",
    infrastructure: { kind: "metal", trustOnFirstUse: true, machines: machines(names) },
    cluster: { kubernetesVersion: "1.36.2" },
    controlPlane: {},
    workers: [{ name: "w" }],
    operate: { interval: "5s" },
    backup: { directory: join(scene.folder, "backups") },
    ...more,
  });

  test("kubectl explain has the texts of the settings", async () => {
    expect(await kubectl("explain", "taloscluster.spec.cluster.talosVersion")).toContain("Goes up only");
    expect(await kubectl("explain", "tc.spec.manage")).toMatch(/Observe\s+Repair\s+Create/);
    expect(await kubectl("explain", "talosmachinepool.spec.replicas")).toContain("kubectl scale");
  });

  test("fills in the defaults of the settings, and none of other kinds of infrastructure", async () => {
    const made = await scene.apply("TalosCluster", "defaults", {
      infrastructure: { kind: "simulated" },
      controlPlane: {},
    });
    expect(made.spec).toMatchObject({
      manage: "Observe",
      deletionPolicy: "Retain",
      infrastructure: { kind: "simulated", deletionProtection: false },
      cluster: { domain: "cluster.local", podCidrs: ["10.244.0.0/16"], cni: "flannel", kubeProxy: true },
      rollout: { maxUnavailable: 1, drainTimeout: "5m", stuckPods: "fail" },
      backend: { kind: "local" },
    });
    expect(Object.keys(made.spec.infrastructure as object).sort()).toEqual(["deletionProtection", "kind"]);
    await scene.delete("TalosCluster", "defaults");
  });

  describe("refuses", () => {
    const good = { infrastructure: { kind: "simulated" }, controlPlane: {}, cluster: { kubernetesVersion: "1.35.1" } };

    test.each<[string, string, object, string]>([
      ["a name that begins no machine", "9lives", good, "metadata.name"],
      ["the name of what is under every environment", "base", good, "metadata.name"],
      ["another kind of infrastructure", "new", { ...good, infrastructure: { kind: "vmware" } }, "Unsupported value"],
      [
        "fields of another kind",
        "new",
        { ...good, infrastructure: { kind: "simulated", region: "eu" } },
        "may have only",
      ],
      ["what a kind requires", "new", { ...good, infrastructure: { kind: "aws" } }, "requires region"],
      ["two control planes", "new", { ...good, controlPlaneRef: { name: "cp" } }, "exactly one of controlPlane"],
      ["no control plane", "new", { infrastructure: { kind: "simulated" } }, "exactly one of controlPlane"],
      ["a version that is none", "new", { ...good, cluster: { talosVersion: "1.13" } }, "talosVersion"],
    ])("%s", async (_what, name, wrong, message) => {
      await expect(scene.apply("TalosCluster", name, wrong)).rejects.toThrow(message);
    });

    test.each<[string, object, string]>([
      ["another kind", { infrastructure: { kind: "metal", machines: {} } }, "kind can't be changed after creation"],
      ["another domain", { cluster: { domain: "other.local" } }, "domain can't be changed after creation"],
      ["other pod networks", { cluster: { podCidrs: ["10.1.0.0/16"] } }, "podCidrs can't be changed after creation"],
      ["a name that was the default", { cluster: { name: "other" } }, "name can't be changed after creation"],
      [
        "an older Talos",
        { cluster: { talosVersion: "v1.12.0" } },
        "talosVersion goes up only: the cluster has v1.13.9",
      ],
      ["an older Kubernetes", { cluster: { kubernetesVersion: "1.34.9" } }, "one minor release at a time"],
      ["a Kubernetes two releases on", { cluster: { kubernetesVersion: "1.37.0" } }, "one minor release at a time"],
      [
        "to forget the Kubernetes version",
        { cluster: { kubernetesVersion: null } },
        "kubernetesVersion can't be removed",
      ],
    ])("%s of a cluster that is there", async (_what, change, message) => {
      await scene.apply("TalosCluster", "fixed", { ...good, cluster: { ...good.cluster, talosVersion: "v1.13.9" } });
      await expect(scene.patch("TalosCluster", "fixed", { spec: change })).rejects.toThrow(message);
      const patch = { spec: { cluster: { kubernetesVersion: "1.35.4" } } };
      await expect(scene.patch("TalosCluster", "fixed", patch)).resolves.toBeDefined();
      await scene.patch("TalosCluster", "fixed", { spec: { cluster: { kubernetesVersion: "1.35.1" } } });
    });

    test("another backup in the place of one", async () => {
      await scene.apply("TalosEtcdBackup", "one", { clusterRef: { name: "fixed" } });
      const change = { spec: { clusterRef: { name: "other" } } };
      await expect(scene.patch("TalosEtcdBackup", "one", change)).rejects.toThrow("can't be changed after creation");
      await scene.delete("TalosEtcdBackup", "one");
      await scene.delete("TalosCluster", "fixed");
    });
  });

  test("a cluster is created, and kubectl wait and get see it", async () => {
    operator = scene.operate({ access: restricted });
    await scene.apply("TalosCluster", "lab", spec(["m-1", "m-2"]));
    await kubectl("wait", "--for=condition=Ready", "--timeout=60s", "taloscluster/lab");
    const table = await kubectl("get", "talosclusters");
    expect(table.split("\n")[0]?.split(/ {2,}/)).toEqual(
      ["NAME", "PHASE", "READY", "MACHINES", "TALOS", "KUBERNETES", "AGE"].map((name) => expect.stringContaining(name)),
    );
    expect(table).toMatch(/lab +Ready +True +2\/2 +v1\.13\.9 +v1\.36\.2/);
    expect(await kubectl("get", "talosmachines")).toMatch(/lab-m-1 +lab +controlplane +Running +True/);
    expect(await kubectl("describe", "taloscluster", "lab")).toMatch(/Normal +Created/);
    expect(await kubectl("get", "secret", "lab-kubeconfig", "--output=jsonpath={.data.value}")).not.toBe("");
  });

  test("it is written only when something has changed", async () => {
    const versions = async () => {
      const things = [...(await scene.list("TalosCluster")), ...(await scene.list("TalosMachine"))];
      return things.map(({ metadata }) => metadata.resourceVersion);
    };
    const looks = () =>
      operator.record.timed.find(({ operation, outcome }) => operation === "look" && outcome === "success")?.count ?? 0;
    const [before, begun] = [await versions(), looks()];
    await scene.until("it was observed again", async () => looks() > begun + 1);
    expect(await versions()).toEqual(before);
  });

  test("it is scaled up and down, its worker pool by kubectl scale", async () => {
    await scene.apply("TalosMachinePool", "lab-w", { replicas: 1 });
    await scene.apply("TalosCluster", "lab", { ...spec(["m-1", "m-2"]), workers: [], workerRefs: [{ name: "lab-w" }] });
    await scene.eventually("TalosCluster", "lab", isReady);
    await scene.patch("TalosCluster", "lab", {
      spec: { infrastructure: { machines: machines(["m-1", "m-2", "m-3"]) } },
    });
    await kubectl("scale", "--replicas=2", "talosmachinepool/lab-w");
    await kubectl("wait", "--for=condition=Ready", "--timeout=60s", "talosmachinepool/lab-w", "taloscluster/lab");
    expect((await scene.get("TalosMachinePool", "lab-w"))?.status).toMatchObject({ replicas: 2, readyReplicas: 2 });
    await scene.patch("TalosCluster", "lab", { spec: { infrastructure: { machines: { "m-2": null } } } });
    await kubectl("scale", "--replicas=1", "talosmachinepool/lab-w");
    await scene.eventually("TalosMachinePool", "lab-w", (pool) => isReady(pool) && pool?.status?.replicas === 1);
    expect((await scene.list("TalosMachine")).map(({ metadata }) => metadata.name)).toEqual(["lab-m-1", "lab-m-3"]);
  });

  test("it is upgraded by a patch release, and backed up", async () => {
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { kubernetesVersion: "1.36.3" } } });
    await kubectl("wait", "--for=condition=Ready", "--timeout=60s", "taloscluster/lab");
    expect((await scene.get("TalosCluster", "lab"))?.status?.kubernetesVersion).toBe("v1.36.3");
    await scene.apply("TalosEtcdBackup", "now", { clusterRef: { name: "lab" } });
    await kubectl("wait", "--for=condition=Complete", "--timeout=60s", "talosetcdbackup/now");
    expect((await scene.get("TalosEtcdBackup", "now"))?.status).toMatchObject({ phase: "Succeeded" });
  });

  test("writes of others at the same time end no work: what conflicts is done again", async () => {
    const write = async () => {
      for (let count = 0; count < 20; count++)
        await scene.patch("TalosCluster", "lab", { metadata: { annotations: { "example.com/count": String(count) } } });
    };
    await Promise.all([
      write(),
      scene.patch("TalosCluster", "lab", { spec: { cluster: { certSans: ["lab.example.com"] } } }),
    ]);
    const ready = await scene.eventually("TalosCluster", "lab", isReady);
    expect(ready.metadata.finalizers).toEqual(["talosmith.dev/cluster"]);
    const stale = { metadata: { resourceVersion: "1", labels: { stale: "yes" } } };
    await expect(scene.patch("TalosCluster", "lab", stale)).rejects.toMatchObject({ code: "conflict" });
  });

  test("an API server that is away for long harms nothing, and what changes afterwards is seen", {
    timeout: 600_000,
  }, async () => {
    const seconds = Number(process.env.TALOSMITH_TEST_AWAY_SECONDS ?? 120);
    await real.stopServer();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    await real.startServer();
    await scene.until("the API is there", async () => (await scene.get("TalosCluster", "lab")) !== undefined);
    await scene.patch("TalosCluster", "lab", { spec: { cluster: { certSans: ["away.example.com"] } } });
    const ready = await scene.eventually("TalosCluster", "lab", isReady, 120);
    expect(ready.status).toMatchObject({ phase: "Ready", machineSummary: "2/2" });
  });

  test("deleted with Retain it runs on, and with Delete it is wiped", async () => {
    const { readySince } = (await scene.get("TalosCluster", "lab"))?.status ?? {};
    await kubectl("delete", "taloscluster", "lab", "--timeout=60s");
    // The garbage collector of Kubernetes needs a while after its API server was away.
    await scene.until("its machines' objects go", async () => (await scene.list("TalosMachine")).length === 0, 120);
    await scene.until("its kubeconfig goes", async () => (await scene.secret("lab-kubeconfig")) === undefined, 120);
    expect(await scene.secret("lab-talos-secrets")).toBeDefined();
    const kept = { ...spec(["m-1", "m-3"]), cluster: { kubernetesVersion: "1.36.3" } };
    await scene.apply("TalosCluster", "lab", { ...kept, deletionPolicy: "Delete" });
    expect((await scene.eventually("TalosCluster", "lab", isReady)).status?.readySince).toBe(readySince);
    await scene.delete("TalosCluster", "lab");
    await scene.eventually(
      "TalosCluster",
      "lab",
      (thing) => conditionOf(thing, "Degraded")?.reason === "ConfirmationNeeded",
    );
    await kubectl("annotate", "taloscluster", "lab", "talosmith.dev/confirm-delete=lab");
    await scene.eventually("TalosCluster", "lab", (thing) => thing === undefined);
    const stages = lab.simulator.listMachines().map(({ id }) => lab.now(id).life.stage);
    expect(stages).toEqual(["maintenance", "maintenance", "maintenance"]);
    await operator.stop();
    await scene.until("its bundle goes", async () => (await scene.secret("lab-talos-secrets")) === undefined);
  });

  test("a leader that has lost its Lease stops, and goes on when it has it again", async () => {
    const namespace = scene.namespace;
    const lease = kubernetesLease(scene.api, namespace, "talosmith");
    const stop = new AbortController();
    const changes: boolean[] = [];
    const times = { duration: 3_000, renewDeadline: 2_000, retry: 200 };
    const leading = whileLeading(
      async (signal) => {
        const operator = scene.operate({ access: restricted });
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        await operator.stop();
      },
      {
        ...{ lease, identity: "first", timing: systemTiming, log: (entry) => scene.log.push(entry), times },
        onChange: (leads) => changes.push(leads),
        signal: stop.signal,
      },
    );
    await scene.until("it leads", async () => changes.length === 1);
    const take = async (holder: string) => {
      await scene.until(`${holder} has the Lease`, async () => {
        const known = await lease.read();
        await lease.write({ holder, seconds: 3, now: new Date() }, known);
        return true;
      });
    };
    await take("second");
    await scene.until("it stops", async () => changes.length === 2);
    await take("");
    await scene.until("it leads again", async () => changes.length === 3);
    stop.abort();
    await leading;
    expect(changes).toEqual([true, false, true, false]);
  });

  const fleet = Number(process.env.TALOSMITH_TEST_CLUSTERS ?? 100);
  test("a hundred clusters are created by one operator within 500 MB", { timeout: 1_800_000 }, async () => {
    const account = join(scene.folder, "account");
    mkdirSync(account);
    writeFileSync(join(account, "token"), "token" in restricted ? await restricted.token() : "", { mode: 0o600 });
    writeFileSync(join(account, "ca.crt"), real.access.ca);
    writeFileSync(join(account, "namespace"), scene.namespace);
    const server = new URL(real.access.servers[0] ?? "");
    const data = join(scene.folder, "data");
    const env = {
      ...{ PATH: process.env.PATH ?? "", TMPDIR: scene.folder, TALOSMITH_SERVICE_ACCOUNT: account },
      ...{ KUBERNETES_SERVICE_HOST: server.hostname, KUBERNETES_SERVICE_PORT: server.port },
      TALOSMITH_SIMULATOR_TIME_SCALE: "0.3",
    };
    const flags = ["operate", "--kubernetes", "--json", "--listen", "127.0.0.1:0", "--data", data];
    const child = spawn(process.execPath, ["bin/talosmith.js", ...flags], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const told: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => told.push(line));
    const ended = once(child, "exit");
    try {
      await scene.until("it serves metrics", async () => told.some((line) => line.includes("metrics at")), 60);
      const address = /http:[^ "]+/.exec(told.find((line) => line.includes("metrics at")) ?? "")?.[0] ?? "";
      const begun = Date.now();
      const names = Array.from({ length: fleet }, (_, index) => `fleet-${index + 1}`);
      for (const name of names)
        await scene.apply("TalosCluster", name, {
          manage: "Create",
          infrastructure: { kind: "simulated" },
          controlPlane: { count: 1 },
        });
      const ready = async () => (await scene.list("TalosCluster")).filter(isReady).length;
      await scene.until("all are ready", async () => (await ready()) === fleet, 1_500);
      const seconds = Math.round((Date.now() - begun) / 1_000);
      const metric = async (name: string) => {
        const text = await (await fetch(address)).text();
        return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
      };
      const megabytes = Math.round((await metric("process_resident_memory_bytes")) / 2 ** 20);
      console.info(`${fleet} clusters ready after ${seconds} s, ${megabytes} MB resident`);
      expect(megabytes).toBeLessThan(500);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });

  test("what is refused later is reported in the status", async () => {
    scene.operate({ access: restricted });
    await scene.apply("TalosCluster", "wrong", spec(["m-1"], { workers: [{ name: "w", count: 7 }] }));
    const invalid = await scene.eventually("TalosCluster", "wrong", phaseIs("Invalid"));
    expect(conditionOf(invalid, "SpecValid")?.message).toContain("spec.workers[0].count: found 7");
    await scene.delete("TalosCluster", "wrong");
  });
});
