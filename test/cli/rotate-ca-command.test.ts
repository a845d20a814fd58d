// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerPlan, registerRotateCa, registerUp } from "../../cli/commands/lifecycle.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { connect } from "../../talos/api/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { parseSecrets, secretsStore } from "../../talos/secrets/index.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { kubernetesCall } from "../support/kubernetes-call.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";
import { findProgram } from "../support/programs.ts";

const talosctl = findProgram("talosctl");
const sops = findProgram("sops");

/** A simulated cluster whose CAs are exchanged while somebody works with its client files. */
describe("rotate-ca", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-rotate-"));
  const at = (path: string) => join(root, path);

  interface How {
    readonly env?: Readonly<Record<string, string>>;
    /** The number of progress events that it gets to tell. */
    readonly cutAfter?: number;
  }
  async function talosmith(args: readonly string[], { env = {}, cutAfter = Number.POSITIVE_INFINITY }: How = {}) {
    const stop = new AbortController();
    const within = { PATH: "/nowhere", ...env };
    const context = testContext({ cwd: root, env: within, clock: systemClock, signal: stop.signal });
    let events = 0;
    const counting = {
      ...context,
      stdout: {
        isTerminal: false,
        write: (text: string) => {
          events += 1;
          if (events === cutAfter) stop.abort();
          context.stdout.write(text);
        },
      },
    };
    const program = createProgram(counting, [registerUp, registerPlan, registerRotateCa, registerSim]);
    await runProgram(program, args, counting);
    return context.written;
  }
  const environment = (file: string) =>
    `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ name: w, count: 1 }]\nsecrets: { file: ${file} }\n`;
  const secrets = () => parseSecrets(readFileSync(at("generated/tiny/secrets.yaml"), "utf8"), "secrets.yaml");
  const rotate = (...more: string[]) => talosmith(["rotate-ca", "tiny", "--dry-run=false", ...more]);

  /** Both APIs on new connections, with the files as they are at this moment; undefined when both let us in. */
  async function refusal(): Promise<string | undefined> {
    try {
      const { contexts } = parseTalosconfig(readFileSync(at("generated/tiny/talosconfig"), "utf8"), "talosconfig");
      const { credentials, nodes = [] } = contexts.get("tiny") ?? {};
      if (credentials === undefined) return "no credentials";
      for (const node of nodes) {
        const client = connect(node, { kind: "mtls", credentials });
        await client.version({ deadline: 5000 }).finally(() => client.close());
      }
      await kubernetesGet(readFileSync(at("generated/tiny/kubeconfig"), "utf8"), "/api/v1/nodes");
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** A server that takes up new certificates may be away for a moment; who is let in then is the question. */
  async function lastingRefusal(): Promise<string | undefined> {
    let refused = await refusal();
    for (let again = 0; refused !== undefined && again < 10; again++) {
      await new Promise((done) => setTimeout(done, 100));
      refused = await refusal();
    }
    return refused;
  }

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.2");
    mkdirSync(at("environments"));
    writeFileSync(at("cdktf.json"), "{}");
    writeFileSync(at("environments/tiny.yaml"), environment("generated/tiny/secrets.yaml"));
    const { exitCode, stderr } = await talosmith(["up", "tiny"]);
    expect(exitCode, stderr).toBe(0);
  });

  afterAll(async () => {
    await talosmith(["sim", "down", "--all"]);
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test("only tells its steps, as talosctl does, until it is told otherwise", async () => {
    const before = readFileSync(at("generated/tiny/secrets.yaml"), "utf8");
    const { passes, v } = JSON.parse((await talosmith(["rotate-ca", "tiny", "--json"])).stdout);
    expect([v, passes.map(({ phase }: { phase: string }) => phase)]).toEqual([1, ["accept", "issue", "drop"]]);
    expect(passes[0].steps[0]).toMatchObject({ id: expect.any(String), sentence: expect.any(String) });
    const { stdout, exitCode } = await talosmith(["rotate-ca", "tiny"]);
    expect(exitCode).toBe(0);
    // As a plan: a heading with the number of steps, then pass, phase and machine.
    const machines = () => [
      "    Change configs",
      "      tiny-cp-1: apply config without a reboot, wait for etcd, wait for Kubernetes node",
      "      tiny-w-1: apply config without a reboot, wait for Kubernetes node",
    ];
    expect(stdout.split("\n").filter((line) => line !== "")).toEqual([
      "Steps (16)",
      "  1. All machines accept the new CAs and the old ones",
      ...machines(),
      "  2. The new CAs issue; the old ones are still accepted",
      ...machines(),
      "    Restart pods",
      "      restart kube-proxy, DNS and the pod network of the cluster, so that they trust the new CA of Kubernetes",
      "  3. The old CAs are not accepted any more",
      ...machines(),
    ]);
    expect(readFileSync(at("generated/tiny/secrets.yaml"), "utf8")).toBe(before);
    expect((await talosmith(["rotate-ca", "tiny", "--talos=false"])).stderr).toBe(
      "tiny is managed without Terraform.\nPlanning tiny\n\nNothing was changed. To do it: talosmith rotate-ca tiny --dry-run=false --talos=false\n",
    );
    expect((await rotate("--talos=false", "--kubernetes=false")).stderr).toContain("nothing to exchange");
  });

  test("never locks out whoever uses the client files, and locks out the old ones in the end", async () => {
    const before = secrets();
    const [oldTalosconfig, oldKubeconfig] = ["talosconfig", "kubeconfig"].map((file) =>
      readFileSync(at(`generated/tiny/${file}`), "utf8"),
    ) as [string, string];
    const ended = new AbortController();
    const refusals: string[] = [];
    let looks = 0;
    const watching = (async () => {
      while (!ended.signal.aborted) {
        looks += 1;
        const refused = await lastingRefusal();
        if (refused !== undefined) refusals.push(refused);
        await new Promise((done) => setTimeout(done, 20));
      }
    })();
    const proxies = async () => {
      const kubeconfig = readFileSync(at("generated/tiny/kubeconfig"), "utf8");
      const path = "/api/v1/namespaces/kube-system/pods";
      const { items } = JSON.parse(await kubernetesGet(kubeconfig, `${path}?labelSelector=k8s-app%3Dkube-proxy`)) as {
        items: readonly { metadata: { name: string } }[];
      };
      const names = items.map(({ metadata: { name } }) => name);
      const logs = await Promise.all(names.map((name) => kubernetesGet(kubeconfig, `${path}/${name}/log`)));
      return { starts: logs.map((log) => /started at (.*)/.exec(log)?.[1]), logs: logs.join("") };
    };
    const { starts } = await proxies();
    const labels = { app: "web" };
    const web = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.com/web:v1" }] } },
      },
    };
    await kubernetesCall(oldKubeconfig, "POST", "/apis/apps/v1/namespaces/default/deployments", web);
    const { exitCode, stderr } = await rotate();
    ended.abort();
    await watching;
    expect(exitCode, stderr).toBe(0);
    expect(refusals).toEqual([]);
    // Its pods would keep the old CA, and lose the API.
    const now = await proxies();
    expect(now.logs).not.toContain("x509");
    expect(now.starts.filter((start) => starts.includes(start))).toEqual([]);
    expect(stderr).toContain("lose its API if they use it, until they are restarted: Deployment default/web (1 pod)");
    // The total of all passes, from the first line on, and no step more or less in the end.
    const counts = [...stderr.matchAll(/ \[(\d+)\/(\S+)\] /g)].map(([, done = "", all = ""]) => ({ done, all }));
    expect(new Set(counts.map(({ all }) => all)).size).toBe(1);
    expect(counts.at(-1)?.done).toBe(counts[0]?.all);
    expect(looks).toBeGreaterThan(3);
    const after = secrets();
    expect(after.rotation).toBeUndefined();
    expect(after.certs.os.certificate).not.toBe(before.certs.os.certificate);
    expect(after.certs.k8s.certificate).not.toBe(before.certs.k8s.certificate);
    expect(statSync(at("generated/tiny/secrets.yaml")).mode & 0o777).toBe(0o600);
    expect((await talosmith(["plan", "tiny"])).stdout).toBe("Nothing to change.\n");
    expect(await lastingRefusal()).toBeUndefined();
    const { contexts } = parseTalosconfig(oldTalosconfig, "talosconfig");
    const { credentials, nodes = [] } = contexts.get("tiny") ?? {};
    if (credentials === undefined) throw new Error("no credentials");
    const client = connect(nodes[0] ?? "", { kind: "mtls", credentials });
    await expect(client.version({ deadline: 5000 })).rejects.toThrow();
    client.close();
    await expect(kubernetesGet(oldKubeconfig, "/api/v1/nodes")).rejects.toThrow();
  });

  test.skipIf(talosctl === undefined)("the real talosctl gets in with the new talosconfig", async () => {
    const run = promisify(execFile)(talosctl ?? "", ["--talosconfig", at("generated/tiny/talosconfig"), "version"]);
    expect((await run).stdout).toContain("Tag:");
  });

  /** Where a run is cut off: the number of progress events that it gets to tell. */
  const points = everything ? Array.from({ length: 30 }, (_, index) => index * 2 + 1) : [15];

  test.each(points)("cut off after %i events, is taken up where it was", async (limit) => {
    const before = secrets().certs.os.certificate;
    await talosmith(["rotate-ca", "tiny", "--dry-run=false", "--json"], { cutAfter: limit });
    expect(await lastingRefusal()).toBeUndefined();
    const half = secrets();
    const { exitCode, stderr } = await rotate();
    expect(exitCode, stderr).toBe(0);
    if (half.rotation !== undefined) expect(stderr).toContain("is taken up there");
    expect(secrets().rotation).toBeUndefined();
    expect(secrets().certs.os.certificate).not.toBe(before);
    if (half.rotation?.phase === "accept") expect(secrets().certs.os).toEqual(half.rotation.os);
    expect(await lastingRefusal()).toBeUndefined();
  });

  test.for([
    ["age", "generated/tiny/secrets.age"],
    ["sops", "generated/tiny/secrets.sops.yaml"],
  ] as const)(
    "a bundle encrypted with %s stays so, through a cut and its resumption",
    async ([kind, file], { skip }) => {
      skip(kind === "sops" && sops === undefined, "sops is not on the PATH");
      const identity = await generateIdentity();
      const recipient = await identityToRecipient(identity);
      const keys = { SOPS_AGE_KEY: identity, SOPS_AGE_RECIPIENTS: recipient };
      // sops gets its keys and is found by the environment of the process.
      for (const [name, value] of Object.entries(keys)) vi.stubEnv(name, value);
      if (sops !== undefined) vi.stubEnv("PATH", `${dirname(sops)}${delimiter}${process.env.PATH}`);
      const before = secrets();
      const store = secretsStore({ kind, path: at(file), recipients: [recipient], identities: [identity] });
      await store.create(before);
      writeFileSync(at("environments/tiny.yaml"), environment(file));
      const words = ["rotate-ca", "tiny", "--dry-run=false", "--json"];
      if (kind === "age") {
        expect((await talosmith(words, { env: keys })).stderr).toContain("does not tell for whom");
        words.push("--age-recipient", recipient);
      }
      expect((await talosmith(words, { env: keys, cutAfter: 9 })).exitCode).not.toBe(0);
      expect(await lastingRefusal()).toBeUndefined();
      const half = await store.read();
      expect(half.rotation).toBeDefined();
      const { exitCode, stderr } = await talosmith(words, { env: keys });
      expect(exitCode, stderr).toBe(0);
      expect(stderr).toContain("is taken up there");
      const after = await store.read();
      expect(after.rotation).toBeUndefined();
      expect(after.certs.os.certificate).not.toBe(before.certs.os.certificate);
      expect(readFileSync(at(file), "utf8")).toContain(kind === "age" ? "BEGIN AGE ENCRYPTED FILE" : "sops:");
      expect(readFileSync(at(file), "utf8")).not.toContain(after.cluster.secret);
      expect(await lastingRefusal()).toBeUndefined();
      // The tests that follow go on with a plain file.
      rmSync(at("generated/tiny/secrets.yaml"));
      await secretsStore({ kind: "file", path: at("generated/tiny/secrets.yaml") }).create(after);
      writeFileSync(at("environments/tiny.yaml"), environment("generated/tiny/secrets.yaml"));
      vi.unstubAllEnvs();
    },
  );

  test("nothing is written over a bundle that somebody else has changed meanwhile", async () => {
    const path = at("changed/secrets.yaml");
    const store = secretsStore({ kind: "file", path });
    const known = secrets();
    const other = { ...known, cluster: { ...known.cluster, id: "other" } };
    await store.create(other);
    await expect(store.exchange(known, known)).rejects.toMatchObject({ code: "conflict" });
    expect(await store.read()).toEqual(other);
  });

  test.skipIf(talosctl === undefined || !everything)(
    "the real talosctl goes through the same passes on these machines",
    async () => {
      const config = at("generated/tiny/talosconfig");
      const { contexts } = parseTalosconfig(readFileSync(config, "utf8"), "talosconfig");
      const { nodes: [plane = "", worker = ""] = [] } = contexts.get("tiny") ?? {};
      const nodes = ["--control-plane-nodes", plane, "--worker-nodes", worker, "-e", plane, "-n", plane];
      const theirs = (talosconfig: string, ...more: string[]) =>
        promisify(execFile)(talosctl ?? "", [
          "--talosconfig",
          talosconfig,
          "rotate-ca",
          "--dry-run=false",
          ...nodes,
          ...more,
        ]);
      const talos = await theirs(config, "--kubernetes=false", "-o", at("theirs"));
      expect(talos.stderr + talos.stdout).toContain("Removing old Talos CA from the accepted CAs");
      const kubernetes = await theirs(at("theirs"), "--talos=false");
      expect(kubernetes.stderr + kubernetes.stdout).toContain("Kubernetes CA rotation done");
    },
  );
});
