// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { fromOperator, operatorFields } from "../../../model/adopt/index.ts";
import { parseEnvironment } from "../../../model/index.ts";
import { testSecrets, testSecretsFile } from "../../engine/fixture.ts";

const object = (kind: string, name: string, spec: object, more: object = {}) =>
  stringify({ apiVersion: "talos.alperen.cloud/v1alpha1", kind, metadata: { name, ...more }, spec });
const read = (...texts: string[]) => fromOperator([{ name: "objects.yaml", text: texts.join("---\n") }]);

const s3 = {
  bucket: "backups",
  region: "eu-central-1",
  endpoint: "https://minio.example.com",
  accessKeyID: { name: "s3", key: "id" },
  secretAccessKey: { name: "s3", key: "secret" },
};
const helmSpec = {
  chartName: "cilium",
  repoURL: "https://helm.cilium.io",
  releaseName: "cilium",
  namespace: "kube-system",
};

describe("objects of talos-operator", () => {
  test("become addresses, secrets, add-ons and backups that an environment can have", () => {
    const source = read(
      object(
        "TalosCluster",
        "lab",
        { controlPlaneRef: { name: "cp" }, workerRef: { name: "w" } },
        { labels: { cni: "cilium" } },
      ),
      stringify({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosControlPlane",
        metadata: { name: "cp" },
        spec: {
          version: "v1.12.1",
          mode: "metal",
          replicas: 1,
          kubeVersion: "v1.35.0",
          metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { installDisk: "/dev/sda", wipe: true } },
          storageClassName: "fast",
        },
        status: { secretBundle: readFileSync(testSecretsFile, "utf8"), state: "Ready" },
      }),
      object("TalosWorker", "w", {
        version: "v1.12.1",
        mode: "metal",
        replicas: 1,
        metalSpec: { machines: [{ address: "10.0.0.2" }] },
        controlPlaneRef: { name: "cp" },
      }),
      object("TalosMachine", "lab-10.0.0.3", { endpoint: "10.0.0.3", version: "v1.12.1", workerRef: { name: "w" } }),
      object("TalosClusterAddon", "cilium", {
        clusterSelector: { matchLabels: { cni: "cilium" } },
        helmSpec: {
          ...helmSpec,
          version: "1.18.0",
          valuesTemplate: "ipam: { mode: kubernetes }\n",
          options: { wait: true, timeout: "5m" },
        },
      }),
      object("TalosClusterAddon", "calico", { clusterSelector: { matchLabels: { cni: "calico" } }, helmSpec }),
      object("TalosClusterAddonRelease", "metrics", {
        clusterRef: { name: "lab" },
        helmSpec: { chartName: "metrics", repoURL: "oci://ghcr.io/charts", releaseName: "metrics" },
      }),
      object("TalosEtcdBackupSchedule", "nightly", {
        schedule: "0 2 * * *",
        retention: 7,
        backupTemplate: { spec: { talosControlPlaneRef: { name: "cp" }, backupStorage: { s3 } } },
      }),
    );
    expect(source.secrets).toEqual(testSecrets());
    expect(source.addresses).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    expect(source.sections).toEqual({
      addons: [
        {
          name: "cilium",
          namespace: "kube-system",
          chart: "cilium",
          repository: "https://helm.cilium.io",
          version: "1.18.0",
          values: { ipam: { mode: "kubernetes" } },
          timeout: "5m",
        },
        { name: "metrics", namespace: "default", chart: "oci://ghcr.io/charts/metrics" },
      ],
      backup: {
        s3: { bucket: "backups", region: "eu-central-1", endpoint: "https://minio.example.com" },
        schedule: "0 2 * * *",
        keep: { count: 7 },
      },
    });
    expect(source.notes.join("\n")).toContain("TalosControlPlane cp: spec.metalSpec.machineSpec.wipe: left out");
    expect(source.notes.join("\n")).toContain(
      "spec.backupTemplate.spec.backupStorage.s3.accessKeyID: left out: credentials come from AWS's usual chain",
    );
    const text = `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n${stringify(source.sections)}`;
    expect(
      parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? text : undefined)).addons,
    ).toHaveLength(2);
  });

  test.each<[string, string, string]>([
    [
      "machines in containers",
      object("TalosControlPlane", "cp", { mode: "container" }),
      'TalosControlPlane cp: spec.mode: found "container", expected metal',
    ],
    [
      "an inline control plane in the cloud",
      object("TalosCluster", "lab", { controlPlane: { mode: "cloud" } }),
      'spec.controlPlane.mode: found "cloud"',
    ],
    [
      "a field that nobody knows",
      object("TalosWorker", "w", { surprise: 1 }),
      "TalosWorker w: spec.surprise: this field is not known",
    ],
    [
      "an address elsewhere",
      object("TalosWorker", "w", { metalSpec: { machines: [{ machineRef: { name: "x" } }] } }),
      "spec.metalSpec.machines.machineRef: the address is in another object",
    ],
    [
      "values that are a template",
      object("TalosClusterAddon", "a", { helmSpec: { ...helmSpec, valuesTemplate: "name: {{ .Cluster.name }}" } }),
      "spec.helmSpec.valuesTemplate: found Go templating",
    ],
    [
      "an option of helm",
      object("TalosClusterAddon", "a", { helmSpec: { ...helmSpec, options: { skipCRDs: true } } }),
      "spec.helmSpec.options: skipCRDs: helm is called without it",
    ],
    [
      "credentials",
      object("TalosClusterAddon", "a", { helmSpec: { ...helmSpec, credentials: { secret: {} } } }),
      "spec.helmSpec.credentials: it refers to a Secret",
    ],
    [
      "a TLS configuration",
      object("TalosClusterAddonRelease", "a", { helmSpec: { ...helmSpec, tlsConfig: {} } }),
      "spec.helmSpec.tlsConfig: there is no equivalent",
    ],
    [
      "label expressions",
      object("TalosClusterAddon", "a", { clusterSelector: { matchExpressions: [] }, helmSpec }),
      "spec.clusterSelector.matchExpressions: only matchLabels",
    ],
    [
      "unchecked certificates",
      object("TalosEtcdBackup", "b", { backupStorage: { s3: { ...s3, insecureSkipTLSVerify: true } } }),
      "spec.backupStorage.s3.insecureSkipTLSVerify: certificates are always checked",
    ],
    [
      "an object of somebody else",
      "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n",
      "Secret a: found no object of talos-operator",
    ],
  ])("are refused by the field's name: %s", (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test("have a row for each kind in docs/concepts.md, and each of their fields", () => {
    const page = readFileSync("docs/concepts.md", "utf8");
    for (const [kind, fields] of Object.entries(operatorFields)) {
      expect(page).toContain(`\`${kind}\``);
      for (const field of Object.keys(fields)) expect(page, `${kind}.${field}`).toContain(`\`${field}\``);
    }
  });
});
