// SPDX-License-Identifier: Apache-2.0
// `cni: none` and an add-on that brings the pod network: one deploy, in which nobody waits for nodes that can't be ready yet.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerDeploy, registerDestroy, registerPlan } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";
import { findProgram, programFolder } from "../support/programs.ts";

const standIn = resolve("test/support/stand-in-helm.mjs");
const realHelm = everything ? findProgram("helm") : undefined;
const managers = everything ? (["talosmith", "terraform", "tofu"] as const) : (["talosmith"] as const);
const cases = managers.flatMap((manager) => [
  { manager, program: "a stand-in for helm", helm: standIn },
  ...(realHelm === undefined ? [] : [{ manager, program: "the real helm", helm: realHelm }]),
]);

const environment = `
cluster: { cni: none }
infrastructure: { kind: simulated }
controlPlane: { count: 1 }
workers: [{ count: 1 }]
addons:
  - { name: app, namespace: kube-system, chart: ./charts/app }
  - { name: network, namespace: kube-system, chart: ./charts/network, cni: true }
`;

/** As network plugins do it: a pod on every node that writes where the container runtime looks for one. JSON is YAML, too. */
const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "network", namespace: "kube-system" },
  spec: {
    selector: { matchLabels: { app: "network" } },
    template: {
      metadata: { labels: { app: "network" } },
      spec: {
        hostNetwork: true,
        containers: [{ name: "network", image: "registry.example/network:1" }],
        volumes: [{ name: "cni", hostPath: { path: "/etc/cni/net.d" } }],
      },
    },
  },
};

describe.each(cases)("through $manager, with $program", ({ manager, helm }) => {
  const binary = manager === "talosmith" ? undefined : findProgram(manager);
  const missing = manager !== "talosmith" && binary === undefined;
  const root = mkdtempSync(join(tmpdir(), "talosmith-pod-network-"));
  const path = programFolder({ node: findProgram("node"), ...(binary === undefined ? {} : { [manager]: binary }) });
  let scale: string | undefined;

  async function talosmith(...args: string[]) {
    const env = { PATH: path, HOME: root, TALOSMITH_HELM: helm, STAND_IN_HELM: join(root, "releases.json") };
    const context = testContext({ cwd: root, env, clock: systemClock });
    const program = createProgram(context, [registerDeploy, registerPlan, registerDestroy]);
    await runProgram(program, args, context);
    return context.written;
  }

  beforeAll(() => {
    scale = process.env.TALOSMITH_SIMULATOR_TIME_SCALE;
    process.env.TALOSMITH_SIMULATOR_TIME_SCALE = "0.2";
    for (const folder of ["environments", "charts/app", "charts/network/templates"])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(join(root, "environments/bare.yaml"), environment);
    for (const name of ["app", "network"])
      writeFileSync(join(root, `charts/${name}/Chart.yaml`), `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`);
    writeFileSync(join(root, "charts/network/templates/daemon-set.json"), JSON.stringify(daemonSet));
  });

  afterAll(async () => {
    if (!missing) await projectSimulator(root).shutdown();
    if (scale === undefined) delete process.env.TALOSMITH_SIMULATOR_TIME_SCALE;
    else process.env.TALOSMITH_SIMULATOR_TIME_SCALE = scale;
    for (const folder of [root, path]) rmSync(folder, { recursive: true, force: true });
  });

  test.skipIf(missing)("one deploy ends with ready nodes, and leaves nothing to do", async () => {
    const deployed = await talosmith("deploy", "bare", "--yes");
    expect(deployed.stderr + deployed.stdout).toContain("bare is up: 1 control plane, 1 worker");
    const kubeconfig = readFileSync(join(root, "generated/bare/kubeconfig"), "utf8");
    const { items } = JSON.parse(await kubernetesGet(kubeconfig, "/api/v1/nodes"));
    const ready = items.map(
      ({ status }: { status: { conditions: { type: string; status: string }[] } }) =>
        status.conditions.find(({ type }) => type === "Ready")?.status,
    );
    expect(ready).toEqual(["True", "True"]);
    expect((await talosmith("plan", "bare")).exitCode).toBe(0);
    expect((await talosmith("destroy", "bare", "--yes")).stderr).toContain("bare is destroyed");
  });
});
