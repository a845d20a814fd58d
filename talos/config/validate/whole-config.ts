// SPDX-License-Identifier: Apache-2.0
import type { ConfigDocument } from "../document/config-file.ts";
import { textAt, textsAt } from "../document/value.ts";
import { type Faults, quoted } from "./findings.ts";

const controlPlaneOnly = [
  "KubeAPIServerConfig",
  "KubeAdmissionControlConfig",
  "KubeAggregatorCAConfig",
  "KubeAuditPolicyConfig",
  "KubeAuthenticationConfig",
  "KubeAuthorizerConfig",
  "KubeControllerManagerConfig",
  "KubeCoreDNSConfig",
  "KubeEtcdEncryptionConfig",
  "KubeFlannelCNIConfig",
  "KubeProxyConfig",
  "KubeSchedulerConfig",
  "KubeServiceAccountConfig",
  "KubeTalosAPIAccessConfig",
];

/** What only shows in all documents together; the rules came with the documents of 1.14. */
export function* wholeConfigFaults(documents: readonly ConfigDocument[]): Faults {
  const v1alpha1 = documents.find(({ kind }) => kind === "v1alpha1")?.section;
  const has = (kind: string): boolean => documents.some((document) => document.kind === kind);
  const identity = documents.find(({ kind }) => kind === "DiscoveryIdentityConfig")?.section;
  for (const [title, own, old] of [
    ["ID", "clusterID", "id"],
    ["secret", "clusterSecret", "secret"],
  ] as const) {
    const known = textAt(identity, own) || textAt(v1alpha1, `cluster.${old}`);
    if (!has("DiscoveryServiceConfig") || known !== "") continue;
    const where = `(.cluster.${old} or DiscoveryIdentityConfig)`;
    yield `cluster ${title} ${where} should be set when cluster discovery (DiscoveryServiceConfig) is enabled`;
  }
  yield* dependencyFaults(documents);
  const controlPlane = ["controlplane", "init"].includes(textAt(v1alpha1, "machine.type"));
  const encrypted =
    has("KubeEtcdEncryptionConfig") ||
    textAt(v1alpha1, "cluster.secretboxEncryptionSecret") !== "" ||
    textAt(v1alpha1, "cluster.aescbcEncryptionSecret") !== "";
  if (controlPlane && has("KubeAPIServerCAConfig") && !encrypted)
    yield "etcd encryption config is required for control plane machines running kube-apiserver";
  const misplaced = controlPlaneOnly.filter(has);
  if (!controlPlane && misplaced.length > 0)
    yield `the following document kinds are only allowed on control plane machines: [${misplaced.sort().join(" ")}]`;
}

/** Containers must not wait for one that is not there, nor for each other. */
function* dependencyFaults(documents: readonly ConfigDocument[]): Faults {
  const edges = new Map(
    documents
      .filter(({ kind }) => kind === "ContainerConfig")
      .map(({ section }) => [textAt(section, "name"), textsAt(section, "dependsOn.containers")] as const),
  );
  for (const [name, needs] of edges)
    for (const need of needs)
      if (!edges.has(need))
        yield `container ${quoted(name)} depends on container ${quoted(need)}, which is not configured`;
  const cycles = cyclesIn(edges);
  if (cycles.length > 0) yield `container dependsOn cycle detected: ${cycles.join(", ")}`;
}

function cyclesIn(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const found = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (done.has(name)) return;
    const start = path.indexOf(name);
    if (start >= 0) {
      found.add([...path.slice(start), name].join(" -> "));
      return;
    }
    for (const need of edges.get(name) ?? []) if (edges.has(need)) visit(need, [...path, name]);
    done.add(name);
  };
  for (const name of [...edges.keys()].sort()) visit(name, []);
  return [...found].sort();
}
