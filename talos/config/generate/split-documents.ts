// SPDX-License-Identifier: Apache-2.0
import { acceptedCas, type SecretsBundle } from "../../secrets/index.ts";
import type { MachineConfigInput, ResolvedCluster } from "../cluster-config.ts";
import { encodedCertificates, encodedPair, type Section } from "./common-values.ts";
import { document } from "./kubernetes-documents.ts";
import { resolverFields } from "./network.ts";

/** What contract 1.14 leaves in the v1alpha1 document. */
export function smallV1alpha1Document(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): Section {
  const controlPlane = machine.type === "controlplane";
  return {
    version: "v1alpha1",
    debug: false,
    persist: true,
    machine: {
      type: machine.type,
      token: secrets.trustdInfo.token,
      ca: encodedPair(secrets.certs.os, { withKey: controlPlane }),
      acceptedCAs: encodedCertificates(acceptedCas(secrets, "os")),
      certSANs: cluster.additionalSans,
      features: { diskQuotaSupport: true },
    },
    cluster: {
      token: secrets.secrets.bootstrapToken,
      etcd: controlPlane ? { ca: encodedPair(secrets.certs.etcd, { withKey: true }) } : undefined,
    },
  };
}

/** The documents of contract 1.14 between the v1alpha1 one and those of registries and networks. */
export function systemDocuments(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): readonly Section[] {
  const { id, secret } = secrets.cluster;
  return [
    ...(cluster.discovery
      ? [document("DiscoveryServiceConfig", { name: "default", endpoint: "https://discovery.talos.dev/" })]
      : []),
    document("DiscoveryIdentityConfig", { clusterID: id, clusterSecret: secret }),
    document("UnattendedInstallConfig", {
      installer: { image: cluster.installImage },
      provisioning: {
        diskSelector: { match: `disk.dev_path == ${JSON.stringify(cluster.installDisk)}` },
        wipe: false,
      },
    }),
    document("ResolverConfig", {
      ...resolverFields(machine),
      hostDNS: { enabled: true, forwardKubeDNSToHost: true },
    }),
    document("VolumeConfig", { name: "EPHEMERAL", mount: { secure: true } }),
    document("FilesystemTrimConfig", { interval: "168h0m0s" }),
    document("SecurityProfileConfig", { workloadIsolation: true }),
  ];
}
