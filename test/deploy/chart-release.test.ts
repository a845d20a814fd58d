// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KubernetesClient } from "../simulator/kubernetes-client.ts";
import { Laboratory } from "../simulator/laboratory.ts";
import { findProgram } from "../support/programs.ts";

const helm = process.env.TALOSMITH_HELM || findProgram("helm");

/** The chart's life on the simulator, by the real helm: what was put into its Secrets must outlive it. */
describe.skipIf(helm === undefined)("a release of the chart", () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-release-"));
  const values = join(folder, "values.yaml");
  let lab: Laboratory;
  let admin: KubernetesClient;

  beforeAll(async () => {
    lab = await Laboratory.open("chart-release");
    const [first] = await lab.cluster(1, 0);
    admin = await KubernetesClient.open(lab, first?.address ?? "");
    writeFileSync(values, "environments: { lab: { infrastructure: { kind: metal } } }\nresources: null\n");
    const pem = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const { ca, cert, key } = admin.identity;
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "lab", cluster: { server: `https://${first?.address}:6443`, "certificate-authority": pem("ca", ca) } },
      ],
      users: [{ name: "admin", user: { "client-certificate": pem("cert", cert), "client-key": pem("key", key) } }],
      contexts: [{ name: "lab", context: { cluster: "lab", user: "admin" } }],
      "current-context": "lab",
    };
    writeFileSync(join(folder, "kubeconfig"), JSON.stringify(kubeconfig), { mode: 0o600 });
  });

  afterAll(async () => {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (...args: string[]) => {
    const flags = ["--namespace", "talosmith", "--kubeconfig", join(folder, "kubeconfig")];
    const env = { PATH: process.env.PATH, HOME: folder };
    return (await promisify(execFile)(helm ?? "", [...args, ...flags], { env })).stdout;
  };
  const path = "/api/v1/namespaces/talosmith/secrets/talosmith-lab";
  const kept = async () => (await admin.call("GET", path)).body.data;

  test("is installed, upgraded and uninstalled, and the bundle stays", async () => {
    expect(await run("install", "talosmith", "deploy/chart", "--create-namespace", "--values", values)).toContain(
      "STATUS: deployed",
    );
    const { body } = await admin.call("GET", path);
    const data = { "secrets.yaml": Buffer.from("bundle").toString("base64") };
    expect((await admin.call("PUT", path, { ...body, data })).code).toBe(200);
    const lease = "/apis/coordination.k8s.io/v1/namespaces/talosmith/leases/talosmith";
    const spec = { holderIdentity: "pod", leaseDurationSeconds: 15 };
    expect((await admin.call("PUT", lease, { ...(await admin.call("GET", lease)).body, spec })).code).toBe(200);
    await run("upgrade", "talosmith", "deploy/chart", "--values", values, "--set", "replicas=1");
    expect(await kept()).toEqual(data);
    expect((await admin.call("GET", lease)).body.spec).toMatchObject(spec);
    expect(await run("uninstall", "talosmith")).toContain("[Secret] talosmith-lab");
    expect(await kept()).toEqual(data);
  });

  test("for objects brings the definitions and the rights for them, and leaves the definitions when it goes", async () => {
    const flags = ["--create-namespace", "--set", "objects.enabled=true"];
    expect(await run("install", "talosmith", "deploy/chart", ...flags)).toContain("STATUS: deployed");
    const definitions = async () =>
      (await admin.call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")).body.items.length;
    expect(await definitions()).toBe(6);
    const clusters = "/apis/talosmith.dev/v1alpha1/namespaces/talosmith/talosclusters";
    expect((await admin.call("GET", clusters)).body.items).toEqual([]);
    await run("uninstall", "talosmith");
    expect(await definitions()).toBe(6);
  });
});
