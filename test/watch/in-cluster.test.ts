// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { registerRotateCa } from "../../cli/commands/lifecycle.ts";
import { registerOperate } from "../../cli/commands/operate.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { inClusterAccess, kubernetesApi, kubernetesLease, systemTiming } from "../../engine/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { type KeptSecret, secretsStore } from "../../talos/secrets/index.ts";
import { whileLeading } from "../../watch/index.ts";
import { environmentSecret } from "../../workspace/secrets.ts";
import { documentsOf, manifestFiles } from "../deploy/manifests.ts";
import { KubernetesClient } from "../simulator/kubernetes-client.ts";
import { Laboratory, secrets } from "../simulator/laboratory.ts";
import { testContext } from "../support/command-context.ts";

const namespace = "talosmith";
const paths: Readonly<Record<string, string>> = {
  ConfigMap: `/api/v1/namespaces/${namespace}/configmaps`,
  Secret: `/api/v1/namespaces/${namespace}/secrets`,
  ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
  Lease: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
  Role: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
  RoleBinding: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
};

/** The operator with the rights that deploy/ gives it, in the cluster that it looks after, on real sockets. */
describe("in a cluster", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-in-cluster-"));
  const account = join(root, "service-account");
  let lab: Laboratory;
  let admin: KubernetesClient;
  let env: Record<string, string> = {};
  const { TMPDIR } = process.env;

  beforeAll(async () => {
    // Runs on one computer keep apart by a lock there, by CA; other tests, and other checkouts, have the same CA.
    process.env.TMPDIR = root;
    lab = await Laboratory.open("in-cluster");
    const [first] = await lab.cluster(1, 0);
    const host = first?.address ?? "";
    admin = await KubernetesClient.open(lab, host);
    await admin.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace },
    });
    for (const manifest of documentsOf(...manifestFiles("deploy/kustomize/base"))) {
      const path = paths[manifest.kind];
      if (path === undefined) continue;
      const subjects = manifest.subjects?.map((subject) => ({ ...subject, namespace }));
      const made = await admin.call("POST", path, { ...manifest, ...(subjects === undefined ? {} : { subjects }) });
      expect([manifest.kind, made.code]).toEqual([manifest.kind, 201]);
    }
    const annotations = { "kubernetes.io/service-account.name": "talosmith" };
    const token = await admin.call("POST", paths.Secret ?? "", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "token", annotations },
      type: "kubernetes.io/service-account-token",
    });
    mkdirSync(account);
    writeFileSync(join(account, "token"), Buffer.from(token.body.data?.token ?? "", "base64"));
    writeFileSync(join(account, "ca.crt"), admin.identity.ca);
    writeFileSync(join(account, "namespace"), namespace);
    mkdirSync(join(root, "environments"));
    const machine = `{ address: ${host}, role: controlplane, fingerprint: ${"a".repeat(43)}= }`;
    writeFileSync(
      join(root, "environments/lab.yaml"),
      `infrastructure: { kind: metal, machines: { cp-1: ${machine} } }\noperate: { repair: true, interval: 5s }\n`,
    );
    env = {
      PATH: "/nowhere",
      TMPDIR: root,
      TALOSMITH_ROOT: root,
      TALOSMITH_KUBERNETES_SECRETS: "talosmith-",
      TALOSMITH_SERVICE_ACCOUNT: account,
      KUBERNETES_SERVICE_HOST: host,
      KUBERNETES_SERVICE_PORT: "6443",
    };
  });

  afterAll(async () => {
    await lab.close();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(root, { recursive: true, force: true });
  });

  const keys = async () =>
    Object.keys((await admin.call("GET", `${paths.Secret}/talosmith-lab`)).body.data ?? {}).sort();

  test("the bundle is kept in the environment's Secret, once, and no other Secret can be read or made", async () => {
    const secret = environmentSecret("lab", { env });
    if (secret === undefined) throw new Error("no Secret");
    const store = secretsStore({ kind: "kubernetes", secret });
    await expect(store.read()).rejects.toMatchObject({ code: "not-found" });
    // Two that begin at once: one wins, and the other is told.
    const both = await Promise.allSettled([store.create(secrets), store.create(secrets)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await store.read()).toEqual(secrets);
    await expect(store.create(secrets)).rejects.toMatchObject({ code: "already-exists" });
    expect(await keys()).toEqual(["secrets.yaml"]);
    await expect(environmentSecret("other", { env })?.read("x")).rejects.toMatchObject({
      code: "permission-denied",
      message: expect.stringContaining(
        'User "system:serviceaccount:talosmith:talosmith" cannot get resource "secrets"',
      ),
    });
  });

  test("the API server knows a service account by its token, and lets it do what its Role says", async () => {
    const { access } = await inClusterAccess(env);
    const api = kubernetesApi(access);
    const stranger = kubernetesApi({ ...access, token: async () => "guessed" });
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "talosmith" } };
    await expect(api.call(`${paths.Lease}/talosmith`)).resolves.toMatchObject({ kind: "Lease" });
    for (const [method, path] of [
      ["GET", paths.Secret],
      ["GET", `${paths.ConfigMap}/talosmith-environments`],
      ["GET", "/api/v1/nodes"],
      ["DELETE", `${paths.Lease}/talosmith`],
      ["POST", paths.Lease],
      ["GET", "/api/v1/namespaces/kube-system/secrets/talosmith-lab"],
    ] as const)
      await expect(
        api.call(path ?? "", { method, ...(method === "POST" ? { body: lease } : {}) }),
      ).rejects.toMatchObject({
        code: "permission-denied",
        message: expect.stringContaining("403"),
      });
    await expect(stranger.call(`${paths.Lease}/talosmith`)).rejects.toThrow("401 Unauthorized");
    api.close();
    stranger.close();
  });

  test("outside of a cluster it says what is missing", async () => {
    await expect(inClusterAccess({})).rejects.toMatchObject({ code: "failed-precondition" });
    await expect(
      inClusterAccess({ KUBERNETES_SERVICE_HOST: "10.0.0.1", TALOSMITH_SERVICE_ACCOUNT: root }),
    ).rejects.toThrow(/ca\.crt/);
  });

  test("one of two operators leads, repairs, keeps the client files in the Secret, and hands over when it ends", async () => {
    const start = () => {
      const stop = new AbortController();
      const context = testContext({ cwd: root, env, clock: systemClock, signal: stop.signal });
      const words = ["operate", "--json", "--lease", "talosmith", "--listen", "127.0.0.1:0"];
      const ended = runProgram(createProgram(context, [registerOperate]), words, context);
      const lines = () =>
        context.written.stdout
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as { event: string; message: string });
      const seen = (event: string, text: string) =>
        expect
          .poll(() => lines().some((line) => line.event === event && line.message.includes(text)), { timeout: 60_000 })
          .toBe(true);
      return { stop, ended, lines, seen, context };
    };
    const first = start();
    await first.seen("leading", "leads");
    const second = start();
    await second.seen("following", "leads");
    await first.seen("repair", "the machines are what the file says");
    expect(await keys()).toEqual(["kubeconfig", "secrets.yaml", "talosconfig"]);
    expect(second.lines().filter(({ event }) => event === "repair")).toEqual([]);
    first.stop.abort();
    await first.ended;
    expect(first.context.written.exitCode).toBe(0);
    expect(first.lines().at(-1)?.event).toBe("stopped");
    await second.seen("leading", "leads");
    await second.seen("environment", "is watched");
    // Its own disk would be empty in a pod of its own.
    rmSync(join(root, "generated"), { recursive: true });
    await expect
      .poll(() => existsText(join(root, "generated/lab/kubeconfig")), { timeout: 30_000 })
      .toContain("kind: Config");
    second.stop.abort();
    await second.ended;
    const { spec } = (await admin.call("GET", `${paths.Lease}/talosmith`)).body;
    expect(spec).toMatchObject({ holderIdentity: "", leaseTransitions: 2 });
  });

  test("the Job that upgrades Kubernetes, killed in the middle, is completed by its next pod", async () => {
    const [job] = documentsOf("deploy/jobs/upgrade-k8s.yaml");
    const { args = [], env: given = [] } = job?.spec?.template?.spec.containers[0] ?? {};
    expect(args.slice(0, 2)).toEqual(["upgrade-k8s", "lab"]);
    expect(given.map(({ name }) => name)).toEqual(["TALOSMITH_ROOT", "TALOSMITH_KUBERNETES_SECRETS"]);
    const to = "1.36.4";
    const file = join(root, "environments/lab.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}cluster: { kubernetesVersion: ${to} }\n`);
    const words = args.map((word) => (/^\d+\.\d+\.\d+$/.test(word) ? to : word));
    /** A pod: a process of its own, with empty folders. Ends by SIGKILL once it has told so many steps to be done. */
    const pod = async (killAfter: number) => {
      for (const folder of ["generated", "state"]) rmSync(join(root, folder), { recursive: true, force: true });
      const child = spawn(process.execPath, [resolve("bin/talosmith.js"), ...words], {
        env: { ...env, PATH: process.env.PATH },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [told, complaint] = ["", ""];
      child.stdout.on("data", (text) => {
        told += text;
        if ((told.match(/"step-finished"/g) ?? []).length >= killAfter) child.kill("SIGKILL");
      });
      child.stderr.on("data", (text) => {
        complaint += text;
      });
      const code = await new Promise((done) => child.once("close", done));
      return { code, told, complaint };
    };
    const killed = await pod(3);
    expect(killed.code, killed.complaint).toBeNull();
    const { code, told, complaint } = await pod(Number.POSITIVE_INFINITY);
    expect(code, complaint).toBe(0);
    // What the first one has finished is not done again.
    expect(told.match(/"step-finished"/g)?.length ?? 0).toBeGreaterThan(0);
    const { items } = JSON.parse(JSON.stringify((await admin.call("GET", "/api/v1/nodes")).body));
    expect(items[0].status.nodeInfo.kubeletVersion).toBe(`v${to}`);
    const done = await pod(Number.POSITIVE_INFINITY);
    expect(done.code, done.complaint).toBe(0);
    expect(done.told).not.toContain('"step-finished"');
    expect(done.complaint).toContain("lab is managed without Terraform.");
  });

  test("the CAs of the very cluster are exchanged from a pod, cut off and taken up, while an operator stands aside", async () => {
    const rotate = async (cutAfter = Number.POSITIVE_INFINITY) => {
      const stop = new AbortController();
      const context = testContext({ cwd: root, env, clock: systemClock, signal: stop.signal });
      let events = 0;
      const write = () => {
        events += 1;
        if (events === cutAfter) stop.abort();
      };
      const counting = { ...context, stdout: { isTerminal: false, write } };
      const words = ["rotate-ca", "lab", "--dry-run=false", "--yes", "--json"];
      await runProgram(createProgram(counting, [registerRotateCa]), words, counting);
      return context.written;
    };
    const store = secretsStore({ kind: "kubernetes", secret: environmentSecret("lab", { env }) as KeptSecret });
    // The first event is the total of all steps; the second comes once the new CAs are stored.
    expect((await rotate(2)).exitCode).not.toBe(0);
    const begun = await store.read();
    expect(begun.rotation).toMatchObject({ phase: "accept" });
    const stop = new AbortController();
    const context = testContext({ cwd: root, env, clock: systemClock, signal: stop.signal });
    const words = ["operate", "--json", "--listen", "127.0.0.1:0"];
    const operator = runProgram(createProgram(context, [registerOperate]), words, context);
    await expect.poll(() => context.written.stdout, { timeout: 30_000 }).toContain("its CAs are being exchanged");
    expect(await store.read()).toEqual(begun);
    const kubelet = refreshCas(lab, join(account, "ca.crt"));
    const { exitCode, stderr } = await rotate();
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain("back up the Secret talosmith-lab");
    const after = await store.read();
    expect(after.rotation).toBeUndefined();
    expect(after.certs.os).toEqual(begun.rotation?.os);
    expect(after.certs.k8s).toEqual(begun.rotation?.k8s);
    stop.abort();
    await operator;
    clearInterval(kubelet);
    const stale = store.exchange(begun, begun);
    await expect(stale).rejects.toMatchObject({ code: "conflict" });
  });

  test("one that was killed is followed when its lease has run out", async () => {
    const { access } = await inClusterAccess(env);
    const api = kubernetesApi(access);
    const lease = kubernetesLease(api, namespace, "talosmith");
    const known = await lease.read(new AbortController().signal);
    await lease.write({ holder: "dead", seconds: 1, now: new Date() }, known);
    const stop = new AbortController();
    const begun = performance.now();
    await whileLeading(async () => stop.abort(), {
      lease,
      identity: "next",
      timing: systemTiming,
      log: () => undefined,
      onChange: () => undefined,
      signal: stop.signal,
      times: { duration: 1_000, renewDeadline: 700, retry: 100 },
    });
    api.close();
    expect(performance.now() - begun).toBeGreaterThanOrEqual(1_000);
  });
});

/** What a kubelet does for the pods on its machine, not at once: the CAs that its cluster trusts. */
function refreshCas(lab: Laboratory, file: string): NodeJS.Timeout {
  const read = () => {
    const [machine] = Object.values(lab.simulation.world.machines);
    const { cluster } = parseYaml(machine?.activeConfig?.split("\n---")[0] ?? "") as {
      cluster: { ca: { crt: string }; acceptedCAs?: { crt: string }[] };
    };
    const cas = [cluster.ca, ...(cluster.acceptedCAs ?? [])];
    return cas.map(({ crt }) => Buffer.from(crt, "base64").toString()).join("");
  };
  return setInterval(() => {
    const text = read();
    setTimeout(() => writeFileSync(file, text), 300);
  }, 200);
}

function existsText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
