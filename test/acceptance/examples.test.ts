// SPDX-License-Identifier: Apache-2.0
// Examples about things that no computer has by itself: their files as they are, but for what a reader has to put in anyway.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Document, parseDocument } from "yaml";
import { projectSimulator } from "../../cli/helper/simulator.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { systemClock } from "../../talos/clock.ts";
import { testContext } from "../support/command-context.ts";
import { shellWords } from "../support/command-line.ts";
import { everything } from "../support/everything.ts";
import { commandLines } from "../support/markdown.ts";
import { startMoto } from "../support/moto.ts";
import { findProgram, programFolder } from "../support/programs.ts";

const long = test.runIf(everything);

describe("an example, as its README says", { timeout: 600_000 }, () => {
  const path = programFolder({ node: findProgram("node") });
  let folder = "";
  let root = "";
  let scale: string | undefined;
  /** Machines that the project knows nothing of but their addresses. */
  let elsewhere = "";

  beforeAll(() => {
    scale = process.env.TALOSMITH_SIMULATOR_TIME_SCALE;
    process.env.TALOSMITH_SIMULATOR_TIME_SCALE = "0.1";
  });

  afterAll(() => {
    if (scale === undefined) delete process.env.TALOSMITH_SIMULATOR_TIME_SCALE;
    else process.env.TALOSMITH_SIMULATOR_TIME_SCALE = scale;
    rmSync(path, { recursive: true, force: true });
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "talosmith-example-"));
    [root, elsewhere] = [join(folder, "project"), join(folder, "elsewhere")];
    mkdirSync(elsewhere);
  });

  afterEach(async () => {
    await talosmith("sim", "down", "--all");
    await projectSimulator(elsewhere).shutdown();
    rmSync(folder, { recursive: true, force: true });
  });

  async function talosmith(...words: string[]) {
    const helm = resolve("test/support/stand-in-helm.mjs");
    const env = { PATH: path, HOME: folder, TALOSMITH_HELM: helm, STAND_IN_HELM: join(folder, "releases.json") };
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, registrations), words, context);
    return context.written;
  }

  /** Every line of the README; a reader who is asked says yes. `put` has what a reader puts in. */
  async function walk(put: Readonly<Record<string, string>>, last: readonly string[]) {
    const lines = commandLines(readFileSync(join(root, "README.md"), "utf8"));
    for (const line of lines) {
      const words = shellWords(line.replace(/^npx talosmith /, "")).map((word) => put[word] ?? word);
      const asks = ["deploy", "destroy"].includes(words[0] ?? "") ? ["--yes"] : [];
      const expected = words[0] === "plan" ? 2 : 0;
      const { exitCode, stderr } = await talosmith(...words, ...asks);
      expect(exitCode, `${line}\n${stderr}`).toBe(expected);
    }
    const { exitCode, stdout } = await talosmith(...last);
    expect(exitCode, `${last.join(" ")}\n${stdout}`).toBe(0);
  }

  function example(name: string): void {
    cpSync(resolve("examples", name), root, { recursive: true });
  }

  function edit(name: string, change: (file: Document) => void): void {
    const path = join(root, "environments", `${name}.yaml`);
    const file = parseDocument(readFileSync(path, "utf8"));
    change(file);
    writeFileSync(path, file.toString());
  }

  /** A simulated machine in the place of each that the file has. Tells which address has become which. */
  async function boxes(name: string, where = elsewhere): Promise<Readonly<Record<string, string>>> {
    const { infrastructure } = parseDocument(
      readFileSync(join(root, "environments", `${name}.yaml`), "utf8"),
    ).toJS() as { infrastructure: { machines: Record<string, { address: string; fingerprint?: string }> } };
    const put: Record<string, string> = {};
    for (const [machine, { address, fingerprint }] of Object.entries(infrastructure.machines)) {
      const box = await projectSimulator(where).createMachine({ name: `box-${machine}`, cluster: "nobody" });
      put[address] = box.address;
      edit(name, (file) => {
        const at = ["infrastructure", "machines", machine];
        file.setIn([...at, "address"], box.address);
        if (fingerprint !== undefined) file.setIn([...at, "fingerprint"], box.fingerprint);
        // The simulator's machines have one disk, of this name.
        file.setIn([...at, "disk"], "/dev/sda");
        file.deleteIn([...at, "link"]);
      });
    }
    return put;
  }

  test("controlplane-metal", async () => {
    example("controlplane-metal");
    await walk(await boxes("controlplane-metal"), ["plan", "controlplane-metal"]);
  });

  long("cluster-metal, without the shared address that loopback has no room for", async () => {
    example("cluster-metal");
    const put = await boxes("cluster-metal");
    edit("cluster-metal", (file) => {
      file.deleteIn(["infrastructure", "network"]);
      file.deleteIn(["infrastructure", "diskSelector"]);
    });
    await walk(put, ["plan", "cluster-metal"]);
  });

  test("worker-metal says what it takes where there is no terraform", async () => {
    example("worker-metal");
    const { exitCode, stderr } = await talosmith("deploy", "worker-metal", "--yes");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("worker-metal belongs to Terraform")]);
  });

  long("worker-metal, below a control plane that is simulated", async (task) => {
    const terraform = findProgram("terraform");
    if (terraform === undefined) return task.skip("there is no terraform");
    symlinkSync(terraform, join(path, "terraform"));
    onTestFinished(() => unlinkSync(join(path, "terraform")));
    example("worker-metal");
    edit("controlplane", (file) => file.set("infrastructure", { kind: "simulated" }));
    // Simulated machines find each other only within one simulator.
    await walk(await boxes("worker-metal", root), ["plan", "worker-metal"]);
  });

  long("controlplane-with-cni, with a chart of its own for Cilium's", async () => {
    example("controlplane-with-cni");
    const chart = join(root, "charts/cilium");
    mkdirSync(join(chart, "templates"), { recursive: true });
    writeFileSync(join(chart, "Chart.yaml"), "apiVersion: v2\nname: cilium\nversion: 1.19.4\n");
    writeFileSync(join(chart, "templates/daemon-set.json"), JSON.stringify(networkPods));
    edit("controlplane-with-cni", (file) => {
      file.setIn(["addons", 0, "chart"], "./charts/cilium");
      for (const key of ["repository", "version"]) file.deleteIn(["addons", 0, key]);
    });
    await walk({}, ["plan", "controlplane-with-cni"]);
  });

  long("etcd-backup-schedule, into a bucket of this computer", async (task) => {
    const moto = await startMoto();
    if ("missing" in moto) {
      console.warn(`SKIPPED: the example etcd-backup-schedule, because ${moto.missing}`);
      return task.skip();
    }
    try {
      process.env.AWS_ACCESS_KEY_ID ??= "test";
      process.env.AWS_SECRET_ACCESS_KEY ??= "test";
      await fetch(`${moto.endpoint}/example-backups`, {
        method: "PUT",
        body: '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>',
      });
      example("etcd-backup-schedule");
      edit("etcd-backup-schedule", (file) => file.setIn(["backup", "s3", "endpoint"], moto.endpoint));
      expect(await talosmith("deploy", "etcd-backup-schedule", "--yes")).toMatchObject({ exitCode: 0 });
      // What `backup run` does at three o'clock.
      expect(await talosmith("backup", "create", "etcd-backup-schedule")).toMatchObject({ exitCode: 0 });
      const { stdout } = await talosmith("backup", "list", "etcd-backup-schedule");
      expect(stdout).toMatch(/etcd-backup-schedule-\d{8}T/);
    } finally {
      moto.stop();
    }
  });
});

/** As network plugins do it: a pod on every node that writes where the container runtime looks for one. */
const networkPods = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "cilium", namespace: "kube-system" },
  spec: {
    selector: { matchLabels: { app: "cilium" } },
    template: {
      metadata: { labels: { app: "cilium" } },
      spec: {
        hostNetwork: true,
        containers: [{ name: "cilium", image: "registry.example/cilium:1" }],
        volumes: [{ name: "cni", hostPath: { path: "/etc/cni/net.d" } }],
      },
    },
  },
};
