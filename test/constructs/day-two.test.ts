// SPDX-License-Identifier: Apache-2.0
import { App, Testing } from "cdktn";
import { describe, expect, test } from "vitest";
import {
  type AddonProps,
  type BackupProps,
  EnvironmentStack,
  SimulatedInfrastructure,
  TalosCluster,
  TalosStack,
} from "../../constructs/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import { repositoryRoot } from "./project.ts";

interface Written {
  readonly resource: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined>>;
}

function stackWith(add: (cluster: TalosCluster) => void, joined = false): Written {
  const stack = new TalosStack(new App(), "lab");
  const cluster = new TalosCluster(stack, "cluster", {
    name: "lab",
    infrastructure: new SimulatedInfrastructure(stack, "simulator"),
    controlPlane: joined ? { endpoint: "https://10.0.0.1:6443", addresses: ["10.0.0.1"] } : { count: 1 },
  });
  add(cluster);
  return JSON.parse(Testing.synth(stack)) as Written;
}

const cilium: AddonProps = { name: "cilium", chart: "oci://registry.example/cilium", cni: true };
const metrics: AddonProps = { name: "metrics", chart: "metrics-server", repository: "https://charts.example" };

describe("add-ons of a cluster", () => {
  test("become talosmith_addon with Terraform's names, and only what is set", () => {
    const { resource } = stackWith((cluster) =>
      cluster.addAddon({
        ...metrics,
        values: { replicas: 2, args: ["--x"] },
        valuesFiles: ["secrets/values.yaml"],
        credentials: { username: "robot", passwordEnv: "PASSWORD" },
        wait: false,
        timeout: 90_000,
      }),
    );
    expect(resource.talosmith_addon).toEqual({
      cluster_addon_metrics: expect.objectContaining({
        name: "metrics",
        namespace: "metrics",
        chart: "metrics-server",
        repository: "https://charts.example",
        values: ["args:\n  - --x\nreplicas: 2\n"],
        values_files: ["secrets/values.yaml"],
        credentials: { username: "robot", password_env: "PASSWORD" },
        wait: false,
        timeout: "90s",
        endpoints:
          "${[for key, machine in local.cluster_control_plane : talosmith_simulated_machine.cluster_control_plane[key].address]}",
        depends_on: ["talosmith_cluster.cluster_cluster"],
      }),
    });
  });

  test.each([
    ["first", [cilium, metrics]],
    ["last", [metrics, cilium]],
  ])("wait for the pod network, also when it is added %s", (_, addons) => {
    const { resource } = stackWith((cluster) => {
      for (const addon of addons) cluster.addAddon(addon);
    });
    const order = resource.talosmith_addon ?? {};
    expect(order.cluster_addon_metrics?.depends_on).toEqual([
      "talosmith_cluster.cluster_cluster",
      "talosmith_addon.cluster_addon_cilium",
    ]);
    expect(order.cluster_addon_cilium).toMatchObject({
      depends_on: ["talosmith_cluster.cluster_cluster"],
      cni: true,
      on_destroy: "keep",
    });
  });

  test("come after those that they name", () => {
    const { resource } = stackWith((cluster) => {
      cluster.addAddon(metrics);
      cluster.addAddon({ name: "app", chart: "./charts/app", after: ["metrics"] });
    });
    expect(resource.talosmith_addon?.cluster_addon_app?.depends_on).toContain("talosmith_addon.cluster_addon_metrics");
  });

  test.each<[string, readonly AddonProps[], string]>([
    ["a name", [{ ...metrics, name: "Metrics" }], 'add-on Metrics: name is "Metrics"; expected a name of at most 53'],
    ["a repository", [{ ...cilium, repository: "https://x" }], "expected no repository beside an oci:// chart"],
    [
      "an unknown add-on",
      [{ ...metrics, after: ["cilium"] }],
      "add-on metrics: after is cilium; expected add-ons that",
    ],
    ["a second one", [metrics, metrics], "add-on metrics: found a second one"],
  ])("are refused for %s", (_, addons, message) => {
    const add = (cluster: TalosCluster) => {
      for (const addon of addons) cluster.addAddon(addon);
    };
    expect(() => stackWith(add)).toThrow(message);
  });
});

describe("the backup of a cluster", () => {
  test("becomes talosmith_etcd_snapshot, and is taken again after an upgrade", () => {
    const { resource } = stackWith((cluster) =>
      cluster.addBackup({ s3: { bucket: "backups", pathStyle: true }, pki: { ageRecipients: ["age1abc"] } }),
    );
    expect(resource.talosmith_etcd_snapshot?.cluster_backup).toMatchObject({
      cluster_name: "lab",
      s3: { bucket: "backups", prefix: "lab", path_style: true },
      pki_age_recipients: ["age1abc"],
      triggers: { talos: expect.stringMatching(/^v1\./), kubernetes: expect.stringMatching(/^1\./) },
      depends_on: ["talosmith_cluster.cluster_cluster"],
    });
  });

  test.each<[string, readonly BackupProps[], string]>([
    ["no place", [{}], "backup: expected one of directory and s3"],
    ["a short bucket", [{ s3: { bucket: "x" } }], 'backup: s3.bucket is "x"; expected'],
    ["a second one", [{ directory: "a" }, { directory: "b" }], "backup: found a second one"],
  ])("is refused for %s", (_, backups, message) => {
    const add = (cluster: TalosCluster) => {
      for (const backup of backups) cluster.addBackup(backup);
    };
    expect(() => stackWith(add)).toThrow(message);
  });

  test("belongs to the stack that has the control plane", () => {
    expect(() => stackWith((cluster) => cluster.addBackup({ directory: "backups" }), true)).toThrow(
      "lab/cluster: backup: the control plane is in another stack",
    );
  });
});

test("the stack of an environment shows its cluster", () => {
  const stack = new EnvironmentStack(new App(), loadEnvironment(repositoryRoot, "local"));
  expect(stack.cluster?.clusterName).toBe("local");
  stack.cluster?.addAddon(metrics);
  expect(Testing.synth(stack)).toContain("metrics-server");
});
