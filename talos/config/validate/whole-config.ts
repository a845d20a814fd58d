// SPDX-License-Identifier: Apache-2.0
import { type ConfigDocument, documentTitle } from "../document/config-file.ts";
import { type Section, sectionAt, sectionsAt, textAt, valueAt } from "../document/value.ts";
import { dependencyFindings } from "./container-dependencies.ts";
import type { Finding } from "./findings.ts";
import { isControlPlane, type Mode } from "./v1alpha1-machine.ts";

/** Kinds that a worker refuses. */
export const controlPlaneOnly: readonly string[] = [
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

const roleLabel = "node-role.kubernetes.io/control-plane";

/** What only shows in all documents together; from 1.14 on, which came with documents for nearly everything. */
export function* wholeConfigFindings(documents: readonly ConfigDocument[], mode: Mode): Iterable<Finding> {
  const all = new Documents(documents);
  yield* all.hostDns(mode);
  yield* all.discovery();
  yield* dependencyFindings(documents);
  yield* all.kubeSpan();
  yield* all.controlPlane();
  yield* all.misplaced();
}

/** The documents, with what the v1alpha1 one provides where there is no other. */
class Documents {
  readonly #documents: readonly ConfigDocument[];
  readonly #v1alpha1: Section | undefined;

  constructor(documents: readonly ConfigDocument[]) {
    this.#documents = documents;
    this.#v1alpha1 = this.#of("v1alpha1");
  }

  *hostDns(mode: Mode): Iterable<Finding> {
    const resolver = this.#of("ResolverConfig");
    const legacy = sectionAt(this.#v1alpha1, "machine.features.hostDNS");
    const own = sectionAt(resolver, "hostDNS");
    const hostDns = valueAt(own, "enabled") === true ? own : legacy;
    if (mode === "container" && hostDns === undefined) yield whole("hostDNS config is required in container mode");
    for (const [key, title] of [
      ["enabled", "hostDNS"],
      ["forwardKubeDNSToHost", "forwardKubeDNSToHost"],
    ] as const)
      if (mode === "container" && hostDns !== undefined && valueAt(hostDns, key) !== true)
        yield whole(`${title} must be enabled in container mode`);
    const encrypted = sectionsAt(resolver, "nameservers").some(
      (server) => !["", "Do53"].includes(textAt(server, "protocol")),
    );
    if (encrypted && valueAt(hostDns, "enabled") !== true)
      yield { ...whole("hostDNS must be enabled when using non-default DNS protocols"), document: "ResolverConfig" };
  }

  *discovery(): Iterable<Finding> {
    if (!this.#discovers()) return;
    const identity = this.#of("DiscoveryIdentityConfig");
    const cluster = sectionAt(this.#v1alpha1, "cluster");
    // What the v1alpha1 document says of it counts alone.
    const old = textAt(cluster, "id") !== "" || textAt(cluster, "secret") !== "";
    for (const [title, own, key] of [
      ["ID", "clusterID", "id"],
      ["secret", "clusterSecret", "secret"],
    ] as const) {
      if ((old ? textAt(cluster, key) : textAt(identity, own)) !== "") continue;
      const where = `(.cluster.${key} or DiscoveryIdentityConfig)`;
      yield whole(`cluster ${title} ${where} should be set when cluster discovery (DiscoveryServiceConfig) is enabled`);
    }
  }

  *kubeSpan(): Iterable<Finding> {
    const kubeSpan = this.#of("KubeSpanConfig") ?? sectionAt(this.#v1alpha1, "machine.network.kubespan");
    if (valueAt(kubeSpan, "enabled") === true && !this.#discovers())
      yield whole("KubeSpan requires cluster discovery to be enabled");
  }

  *controlPlane(): Iterable<Finding> {
    const cluster = sectionAt(this.#v1alpha1, "cluster");
    const kubernetes =
      this.#has("KubeAPIServerCAConfig") || cluster?.has("ca") === true || cluster?.has("acceptedCAs") === true;
    const encrypted =
      this.#has("KubeEtcdEncryptionConfig") ||
      ["secretboxEncryptionSecret", "aescbcEncryptionSecret"].some((key) => textAt(cluster, key) !== "");
    if (this.#isControlPlane && kubernetes && !encrypted)
      yield whole("etcd encryption config is required for control plane machines running kube-apiserver");
    const node = this.#of("KubeNodeConfig");
    const registered = valueAt(node, "skipNodeRegistration") !== true;
    if (this.#isControlPlane && node && registered && !sectionAt(node, "labels")?.has(roleLabel)) {
      const message =
        `KubeNodeConfig document should set the "${roleLabel}" node label on control plane machines ` +
        `(and, unless scheduling on control planes is allowed, the "${roleLabel}: NoSchedule" taint): ` +
        "unlike .machine.nodeLabels/.machine.nodeTaints, the document contents are used as-is";
      yield { severity: "warning", document: "KubeNodeConfig", path: "labels", message };
    }
    if (kubernetes && !this.#has("KubeClusterConfig") && textAt(cluster, "controlPlane.endpoint") === "") {
      const where = "either .cluster.clusterName/.cluster.controlPlane.endpoint or the KubeClusterConfig document";
      yield whole(`cluster name and endpoint are required when Kubernetes is configured: ${where}`);
    }
  }

  *misplaced(): Iterable<Finding> {
    const found = this.#documents.filter(({ kind }) => controlPlaneOnly.includes(kind));
    const [first] = found;
    if (this.#isControlPlane || first === undefined) return;
    const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
    const message = `the following document kinds are only allowed on control plane machines: [${kinds.join(" ")}]`;
    yield { ...whole(message), document: documentTitle(first) };
  }

  get #isControlPlane(): boolean {
    return isControlPlane(this.#v1alpha1);
  }

  #discovers(): boolean {
    const legacy = sectionAt(this.#v1alpha1, "cluster.discovery");
    const byLegacy = valueAt(legacy, "enabled") === true && valueAt(legacy, "registries.service.disabled") !== true;
    return byLegacy || this.#has("DiscoveryServiceConfig");
  }

  #has(kind: string): boolean {
    return this.#of(kind) !== undefined;
  }

  #of(kind: string): Section | undefined {
    return this.#documents.find((document) => document.kind === kind)?.section;
  }
}

function whole(message: string): Finding {
  return { severity: "error", document: "", path: "", message };
}
