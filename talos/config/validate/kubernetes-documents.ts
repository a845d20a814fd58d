// SPDX-License-Identifier: Apache-2.0
import { sectionAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { roles } from "../talosconfig/roles.ts";
import { endpointFault, isSubnetOrAddress, urlParts } from "./addresses.ts";
import { authorityFaults, keyFault } from "./certificates.ts";
import type { Check, Checks } from "./documents.ts";
import { listOfErrors, quoted } from "./findings.ts";
import { checkKubeNetwork } from "./kube-network.ts";
import { annotationFaults, domainFault, labelFaults, taintFaults } from "./labels.ts";
import { authorizerTypes, resourcesFault } from "./v1alpha1-cluster.ts";

/** Documents of Kubernetes, of contract 1.14. */
export const kubernetesChecks: Checks = {
  KubeAdmissionControlConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("admission control plugin name is required");
  },
  KubeAggregatorCAConfig: (document, { errors }) => {
    if (sectionAt(document, "issuingCA") === undefined) errors.push("issuing CA is not set");
    errors.push(...authorityFaults(document));
  },
  KubeAPIServerCAConfig: (document, { errors }) => errors.push(...authorityFaults(document)),
  KubeAPIServerConfig: component("kube-apiserver"),
  KubeAuthorizerConfig: (document, { errors, warnings }) => {
    const type = textAt(document, "type");
    if (textAt(document, "name") === "") errors.push("authorizer name is required");
    if (type === "") errors.push("authorizer type is required");
    if (!authorizerTypes.includes(type)) {
      errors.push(`authorizer type ${type} is not allowed, allowed types are [${authorizerTypes.join(" ")}]`);
    }
    const configured = (sectionAt(document, "webhook")?.size ?? 0) > 0;
    if (type === "Webhook" && !configured) {
      errors.push("authorizer webhook configuration is required for Webhook authorizer type");
    }
    if (type !== "Webhook" && configured) {
      warnings.push("authorizer webhook configuration is not allowed non-Webhook authorizer types");
    }
  },
  KubeClusterConfig: (document, { errors }) => {
    const endpoint = textAt(document, "endpoint");
    const fault = endpointFault(endpoint);
    if (textAt(document, "clusterName") === "") errors.push("clusterName must be specified");
    if (endpoint === "") errors.push("endpoint must be specified");
    else if (fault !== undefined) errors.push(`cluster endpoint is invalid: ${fault}`);
  },
  KubeControllerManagerConfig: component("kube-controller-manager"),
  KubeEtcdEncryptionConfig: (document, { errors }) => {
    if ((sectionAt(document, "config")?.size ?? 0) === 0) errors.push("etcd encryption config is required");
  },
  KubeExternalManifestConfig: (document, { errors }) => {
    errors.push(...manifestNameFaults(textAt(document, "name"), "manifest"));
    const url = textAt(document, "url");
    const { scheme } = urlParts(url);
    if (url === "") errors.push("manifest URL is required");
    else if (scheme !== "http" && scheme !== "https") {
      errors.push(`manifest URL scheme must be http or https: ${quoted(scheme)}`);
    }
  },
  KubeFlannelCNIConfig: (document, { errors }) => {
    if (textAt(document, "backendType") === "") errors.push("flannel backend type must be specified");
    const fault = resourcesFault(sectionAt(document, "resources"));
    if (fault !== undefined) errors.push(fault);
  },
  KubeInlineManifestConfig: (document, { errors }) =>
    errors.push(...manifestNameFaults(textAt(document, "name"), "manifest")),
  KubeletConfig: (document, { errors }) => {
    if (textAt(document, "image") === "") errors.push("kubelet image cannot be empty");
  },
  KubePrismConfig: (document, { errors }) => {
    const port = Number(valueAt(document, "port") ?? 0);
    if (port <= 0 || port > 65535) errors.push(`invalid port ${port}: must be in range 1-65535`);
  },
  KubeNetworkConfig: checkKubeNetwork,
  KubeNodeConfig: (document, { errors }) => {
    for (const subnet of textsAt(document, "nodeIP.validSubnets")) {
      if (!isSubnetOrAddress(subnet)) errors.push(`nodeIP subnet is not valid: ${quoted(subnet.replace(/^!/, ""))}`);
    }
    const groups = [
      ["labels", labelFaults(sectionAt(document, "labels"))],
      ["annotations", annotationFaults(sectionAt(document, "annotations"))],
      ["taints", taintFaults(sectionAt(document, "taints"))],
    ] as const;
    for (const [kind, faults] of groups) {
      if (faults.length > 0) errors.push(`invalid node ${kind}: ${listOfErrors(faults)}`);
    }
  },
  KubeProxyConfig: (document, findings) => {
    if (valueAt(document, "enabled") === false) return;
    component("proxy")(document, findings);
    const mode = textAt(document, "mode");
    if (mode === "iptables" || mode === "ipvs") {
      const advice = "is not recommended, please switch to nftables if possible";
      findings.warnings.push(`proxy mode ${quoted(mode)} ${advice}`);
    } else if (mode !== "" && mode !== "nftables") {
      const modes = "supported modes are iptables, ipvs and nftables";
      findings.errors.push(`invalid proxy mode ${quoted(mode)}: ${modes}`);
    }
    if ((sectionAt(document, "extraArgs")?.size ?? 0) > 0) {
      const advice = "may not work as expected, please use configuration instead";
      findings.warnings.push(`extra arguments for kube-proxy ${advice}`);
    }
  },
  KubeSchedulerConfig: component("scheduler"),
  KubeServiceAccountConfig: (document, { errors }) => {
    const key = textAt(document, "issuer.privateKey");
    const fault = keyFault(key);
    if (key === "") errors.push("service issuer private key is required");
    else if (fault !== undefined) errors.push(`service issuer private key is invalid: ${fault}`);
    if (textAt(document, "issuer.issuerURL") === "") errors.push("service issuer URL is required");
  },
  KubeStaticPodConfig: (document, { errors }) => {
    errors.push(...manifestNameFaults(textAt(document, "name"), "static pod"));
    if ((sectionAt(document, "pod")?.size ?? 0) === 0) errors.push("static pod spec is required");
  },
  KubeTalosAPIAccessConfig: (document, { errors }) => {
    for (const role of textsAt(document, "allowedRoles")) {
      if (!roles.some((known) => known === role)) errors.push(`invalid role ${quoted(role)} in .allowedRoles`);
    }
  },
};

/** A component that has an image unless it is switched off. */
function component(title: string): Check {
  return (document, { errors }) => {
    if (valueAt(document, "enabled") === false) return;
    if (textAt(document, "image") === "") errors.push(`${title} image cannot be empty`);
    const fault = resourcesFault(sectionAt(document, "resources"));
    if (fault !== undefined) errors.push(fault);
  };
}

function manifestNameFaults(name: string, what: string): readonly string[] {
  if (name === "") return [`${what} name is required`];
  const fault = domainFault(name);
  return fault === undefined ? [] : [`${what} name is invalid: ${fault}`];
}
