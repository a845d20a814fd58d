// SPDX-License-Identifier: Apache-2.0
// What other tools leave of a cluster that they made.
import { stringify } from "yaml";
import type { SecretsBundle } from "../../talos/secrets/index.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A state of the official provider, with the resources that its documents show. */
export function officialState(bundle: SecretsBundle, nodes: readonly string[]): object {
  const { cluster, secrets, trustdInfo, certs } = bundle;
  const pair = ({ certificate, key }: { certificate: string; key: string }) => ({
    cert: base64(certificate),
    key: base64(key),
  });
  const machine_secrets = {
    cluster,
    secrets: {
      bootstrap_token: secrets.bootstrapToken,
      secretbox_encryption_secret: secrets.secretboxEncryptionSecret ?? null,
      aescbc_encryption_secret: secrets.aescbcEncryptionSecret ?? null,
    },
    trustdinfo: trustdInfo,
    certs: {
      etcd: pair(certs.etcd),
      k8s: pair(certs.k8s),
      k8s_aggregator: pair(certs.k8sAggregator),
      k8s_serviceaccount: { key: base64(certs.k8sServiceAccount.key) },
      os: pair(certs.os),
    },
  };
  const resource = (type: string, name: string, all: readonly object[]) => ({
    mode: "managed",
    type,
    name,
    provider: 'provider["registry.terraform.io/siderolabs/talos"]',
    instances: all.map((attributes, index) => ({
      schema_version: 1,
      attributes,
      ...(all.length > 1 ? { index_key: index } : {}),
    })),
  });
  return {
    version: 4,
    terraform_version: "1.11.4",
    serial: 1,
    lineage: "5b1b6f4e-0000-4000-8000-000000000000",
    outputs: {},
    resources: [
      resource("talos_machine_secrets", "this", [{ machine_secrets, talos_version: "v1.13" }]),
      resource(
        "talos_machine_configuration_apply",
        "cp",
        nodes.map((node) => ({ node, endpoint: node })),
      ),
      resource("talos_machine_bootstrap", "this", [{ node: nodes[0] }]),
      resource("talos_cluster_kubeconfig", "this", [{ node: nodes[0] }]),
    ],
  };
}

/** talos-operator's objects of a cluster with one control plane, as `kubectl get -o yaml` gives them. */
export function operatorObjects(secretBundle: string, [plane, ...workers]: readonly string[]): string {
  const object = (kind: string, name: string, spec: object, status: object = {}) =>
    stringify({ apiVersion: "talos.alperen.cloud/v1alpha1", kind, metadata: { name }, spec, status });
  const metal = (addresses: readonly (string | undefined)[]) => ({
    mode: "metal",
    version: "v1.13.9",
    metalSpec: { machines: addresses.map((address) => ({ address })) },
  });
  return [
    object("TalosCluster", "theirs", { controlPlaneRef: { name: "cp" }, workerRef: { name: "w" } }),
    object("TalosControlPlane", "cp", metal([plane]), { secretBundle }),
    object("TalosWorker", "w", { ...metal(workers), controlPlaneRef: { name: "cp" } }),
  ].join("---\n");
}

/** talhelper's talconfig.yaml. */
export function talconfig(clusterName: string, endpoint: string, addresses: readonly string[]): string {
  const nodes = addresses.map((ipAddress, index) => ({
    hostname: `node-${index}`,
    ipAddress,
    controlPlane: index === 0,
  }));
  return stringify({ clusterName, endpoint, nodes });
}

/** The files of kubeadm's PKI, by their names. */
export function kubeadmPki({ certs }: SecretsBundle): Readonly<Record<string, string>> {
  return {
    "ca.crt": certs.k8s.certificate,
    "ca.key": certs.k8s.key,
    "etcd/ca.crt": certs.etcd.certificate,
    "etcd/ca.key": certs.etcd.key,
    "front-proxy-ca.crt": certs.k8sAggregator.certificate,
    "front-proxy-ca.key": certs.k8sAggregator.key,
    "sa.key": certs.k8sServiceAccount.key,
  };
}
