// SPDX-License-Identifier: Apache-2.0
import { type Section, sectionAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { roles } from "../talosconfig/talosconfig.ts";
import { endpointFault, subnetFaults, urlParts } from "./addresses.ts";
import { authorityFaults, keyFault } from "./certificates.ts";
import {
  about,
  type Check,
  type Checks,
  every,
  type Faults,
  type Findings,
  isFilled,
  quoted,
  requires,
  unset,
} from "./findings.ts";
import { checkKubeNetwork } from "./kube-network.ts";
import { domainFault, markFaults } from "./labels.ts";
import { authorizerTypes, resourcesFault } from "./v1alpha1-cluster.ts";
import { protectedKubeletFields } from "./v1alpha1-machine.ts";

/** Documents of Kubernetes, of contract 1.14. */
export const kubernetesChecks: Checks = {
  KubeAdmissionControlConfig: requires({ name: "admission control plugin name is required" }),
  *KubeAggregatorCAConfig(document) {
    if (sectionAt(document, "issuingCA") === undefined) yield "issuing CA is not set";
    yield* authorityFaults(document);
  },
  KubeAPIServerCAConfig: authorityFaults,
  KubeAPIServerConfig: every(
    requires({ image: "kube-apiserver image cannot be empty" }),
    argumentFindings,
    resourceFindings,
  ),
  *KubeAuthorizerConfig(document) {
    const type = textAt(document, "type");
    yield* unset(document, { name: "authorizer name is required", type: "authorizer type is required" });
    if (!authorizerTypes.includes(type))
      yield `authorizer type ${type} is not allowed, allowed types are [${authorizerTypes.join(" ")}]`;
    const configured = isFilled(document, "webhook");
    if (type === "Webhook" && !configured)
      yield "authorizer webhook configuration is required for Webhook authorizer type";
    if (type !== "Webhook" && configured)
      yield { warning: "authorizer webhook configuration is not allowed non-Webhook authorizer types" };
  },
  *KubeClusterConfig(document) {
    const endpoint = textAt(document, "endpoint");
    yield* unset(document, { clusterName: "clusterName must be specified", endpoint: "endpoint must be specified" });
    if (endpoint !== "") yield* about("cluster endpoint is invalid", endpointFault(endpoint));
  },
  KubeControllerManagerConfig: component("kube-controller-manager"),
  *KubeEtcdEncryptionConfig(document) {
    if (!isFilled(document, "config")) yield "etcd encryption config is required";
  },
  *KubeExternalManifestConfig(document) {
    yield* manifestNameFaults(document, "manifest");
    const url = textAt(document, "url");
    const { scheme } = urlParts(url);
    if (url === "") yield "manifest URL is required";
    else if (scheme !== "http" && scheme !== "https")
      yield `manifest URL scheme must be http or https: ${quoted(scheme)}`;
  },
  KubeFlannelCNIConfig: every(requires({ backendType: "flannel backend type must be specified" }), resourceFindings),
  KubeInlineManifestConfig: (document) => manifestNameFaults(document, "manifest"),
  *KubeletConfig(document) {
    yield* unset(document, { image: "kubelet image cannot be empty" });
    for (const field of protectedKubeletFields)
      if (sectionAt(document, "config")?.has(field))
        yield { error: `kubelet configuration field ${quoted(field)} can't be overridden`, path: `config.${field}` };
  },
  *KubePrismConfig(document) {
    const port = Number(valueAt(document, "port") ?? 0);
    if (port <= 0 || port > 65535) yield `invalid port ${port}: must be in range 1-65535`;
  },
  KubeNetworkConfig: checkKubeNetwork,
  *KubeNodeConfig(document) {
    yield* subnetFaults(textsAt(document, "nodeIP.validSubnets"), "nodeIP subnet");
    yield* markFaults(document, ["labels", "annotations", "taints"], "invalid node");
  },
  *KubeProxyConfig(document) {
    if (valueAt(document, "enabled") === false) return;
    yield* unset(document, { image: "proxy image cannot be empty" });
    const mode = textAt(document, "mode");
    if (mode === "iptables" || mode === "ipvs") {
      const advice = "is not recommended, please switch to nftables if possible";
      yield { warning: `proxy mode ${quoted(mode)} ${advice}` };
    } else if (mode !== "" && mode !== "nftables")
      yield `invalid proxy mode ${quoted(mode)}: supported modes are iptables, ipvs and nftables`;
    if (isFilled(document, "extraArgs")) {
      const advice = "may not work as expected, please use configuration instead";
      yield { warning: `extra arguments for kube-proxy ${advice}`, path: "extraArgs" };
    }
    yield* resourceFindings(document);
  },
  KubeSchedulerConfig: component("scheduler"),
  *KubeServiceAccountConfig(document) {
    const key = textAt(document, "issuer.privateKey");
    if (key === "") yield "service issuer private key is required";
    else yield* about("service issuer private key is invalid", keyFault(key));
    yield* unset(document, { "issuer.issuerURL": "service issuer URL is required" });
  },
  *KubeStaticPodConfig(document) {
    yield* manifestNameFaults(document, "static pod");
    if (!isFilled(document, "pod")) yield "static pod spec is required";
  },
  *KubeTalosAPIAccessConfig(document) {
    if (textsAt(document, "allowedRoles").length === 0)
      yield { warning: "no roles are allowed in .allowedRoles, so access is blocked", path: "allowedRoles" };
    for (const role of textsAt(document, "allowedRoles"))
      if (!roles.some((known) => known === role)) yield `invalid role ${quoted(role)} in .allowedRoles`;
  },
};

/** A component that has an image unless it is switched off. */
function component(title: string): Check {
  const check = every(requires({ image: `${title} image cannot be empty` }), resourceFindings);
  return (document, rules) => (valueAt(document, "enabled") === false ? [] : check(document, rules));
}

/** Arguments that other documents are for, by how they begin; the longest beginning counts. */
const deniedArguments: Readonly<Record<string, string>> = {
  "oidc-signing-algs":
    "not supported with KubeAuthenticationConfig: " +
    "kube-apiserver rejects --oidc-* flags when structured authentication configuration is used, " +
    "and the configuration has no equivalent setting (all RFC 7518 asymmetric algorithms are accepted)",
  "anonymous-auth": "use KubeAuthenticationConfig",
  "oidc-": "use KubeAuthenticationConfig",
  "authentication-config": "use KubeAuthenticationConfig",
  "authorization-config": "use KubeAuthorizerConfig",
  "authorization-mode": "use KubeAuthorizerConfig",
  "authorization-webhook-": "use KubeAuthorizerConfig",
};

function* argumentFindings(document: Section): Findings {
  for (const name of [...(sectionAt(document, "extraArgs")?.keys() ?? [])].sort()) {
    const [, reason] = Object.entries(deniedArguments).find(([start]) => name.startsWith(start)) ?? [];
    if (reason === undefined) continue;
    const error = `kube-apiserver extra argument ${quoted(name)} is not allowed: ${reason}`;
    yield { error, path: `extraArgs.${name}` };
  }
}

function* resourceFindings(document: Section): Findings {
  const error = resourcesFault(sectionAt(document, "resources"));
  if (error !== undefined) yield { error, path: "resources" };
}

function* manifestNameFaults(document: Section, what: string): Faults {
  const name = textAt(document, "name");
  if (name === "") yield `${what} name is required`;
  else yield* about(`${what} name is invalid`, domainFault(name));
}
