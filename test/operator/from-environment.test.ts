// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { objectsOf } from "../../operator/index.ts";

const apiVersion = "talosmith.dev/v1alpha1";

test("an environment is a TalosCluster, with an object for each add-on and for the schedule of its backups", () => {
  const environment = {
    infrastructure: { kind: "simulated" },
    cluster: { talosVersion: "v1.13.9", patchFiles: ["secrets/lab.patch.yaml"] },
    controlPlane: { count: 3 },
    secrets: { file: "secrets/lab.yaml" },
    backup: { s3: { bucket: "etcd" }, schedule: "0 3 * * *", timeZone: "Europe/Berlin" },
    addons: [{ name: "web", chart: "oci://charts.example.com/web", after: ["dns"] }],
  };
  expect(objectsOf("lab", environment)).toEqual([
    {
      ...{ apiVersion, kind: "TalosCluster", metadata: { name: "lab" } },
      spec: {
        manage: "Observe",
        infrastructure: { kind: "simulated" },
        cluster: { talosVersion: "v1.13.9" },
        controlPlane: { count: 3 },
        backup: { s3: { bucket: "etcd" } },
      },
    },
    {
      ...{ apiVersion, kind: "TalosClusterAddon", metadata: { name: "web" } },
      spec: { clusterRef: { name: "lab" }, name: "web", chart: "oci://charts.example.com/web" },
    },
    {
      ...{ apiVersion, kind: "TalosEtcdBackupSchedule", metadata: { name: "lab" } },
      spec: { clusterRef: { name: "lab" }, schedule: "0 3 * * *", timeZone: "Europe/Berlin" },
    },
  ]);
});
