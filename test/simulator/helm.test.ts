// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Data } from "../../talos/api/gen/common/common.ts";
import { findProgram } from "../support/programs.ts";
import { collect, Laboratory, untar } from "./laboratory.ts";

/** Path of the real program; the suite does not need it. TALOSMITH_HELM=… npx vitest run test/simulator/helm.test.ts */
const helm = process.env.TALOSMITH_HELM ?? findProgram("helm");

const chart: Readonly<Record<string, string>> = {
  "Chart.yaml": "apiVersion: v2\nname: demo\nversion: 0.1.0\n",
  "values.yaml": "tag: v1\nreplicas: 2\n",
  "crds/widgets.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`,
  "templates/hook.yaml": `
apiVersion: batch/v1
kind: Job
metadata:
  name: first
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: job, image: "example.com/job:v1"}]}}}
`,
  "templates/all.yaml": `
apiVersion: v1
kind: ServiceAccount
metadata: {name: demo}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: demo}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: Service
metadata: {name: demo}
spec: {selector: {app: demo}, ports: [{port: 80}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: demo}
provisioner: demo.example.com
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: demo.example.com}
spec: {attachRequired: false}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: demo}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {labels: {app: demo}}
    spec: {containers: [{name: web, image: "example.com/web:{{ .Values.tag }}"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "example.com/agent:{{ .Values.tag }}"}]}
`,
};

describe.runIf(helm !== undefined)("the real helm", () => {
  let lab: Laboratory;
  let folder: string;

  function run(...args: string[]): Promise<{ readonly code: number; readonly output: string }> {
    const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOME: folder };
    return new Promise((resolve) => {
      const all = [...args, "-n", "demo"];
      execFile(helm ?? "helm", all, { env, cwd: folder, timeout: 110_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, output: stdout + stderr });
      });
    });
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "talosmith-helm-"));
    lab = await Laboratory.open("helm");
    const [first] = await lab.cluster(1, 2);
    const [data] = await collect<Data>(lab.machineApi(first?.address ?? "").kubeconfig({}));
    await writeFile(join(folder, "kubeconfig"), untar(data?.bytes ?? new Uint8Array()).content, { mode: 0o600 });
    for (const [path, content] of Object.entries(chart)) {
      await mkdir(join(folder, "chart", path, ".."), { recursive: true });
      await writeFile(join(folder, "chart", path), content);
    }
  });

  afterAll(async () => {
    await lab.close();
    await rm(folder, { recursive: true, force: true });
  });

  const wait = ["--wait", "--wait-for-jobs", "--timeout", "60s"];

  it("installs, upgrades, waits in vain for an image that is not there, rolls back and uninstalls", async () => {
    const installed = await run("install", "demo", "chart", "--create-namespace", ...wait);
    expect(installed).toMatchObject({ code: 0, output: expect.stringContaining("STATUS: deployed") as unknown });
    expect(await run("upgrade", "demo", "chart", "--set", "tag=v2,replicas=3", ...wait)).toMatchObject({ code: 0 });
    const bad = await run("upgrade", "demo", "chart", "--set", "tag=missing", "--wait", "--timeout", "5s");
    expect(bad).toMatchObject({ code: 1, output: expect.stringContaining("UPGRADE FAILED") as unknown });
    expect(await run("rollback", "demo", "2", ...wait)).toMatchObject({ code: 0 });
    expect((await run("history", "demo")).output).toMatch(/3\s.*failed[\s\S]*4\s.*deployed/);
    expect(await run("uninstall", "demo", ...wait.slice(0, 1))).toMatchObject({ code: 0 });
    expect((await run("list")).output).not.toContain("demo-0.1.0");
  });
});
