// SPDX-License-Identifier: Apache-2.0
import { requestUrlFault } from "../document/url.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { endpointFault, isSubnetOrAddress, urlParts } from "./addresses.ts";
import { type Findings, quoted } from "./findings.ts";

export interface ClusterRules {
  readonly controlPlane: boolean;
  /** Contract 1.14: the endpoint stands in a document of its own. */
  readonly endpointElsewhere: boolean;
}

/** Checks the cluster section of the v1alpha1 document. */
export function clusterFaults(cluster: Section | undefined, rules: ClusterRules): readonly string[] {
  if (cluster === undefined) return ["cluster instructions are required"];
  const endpoint = textAt(cluster, "controlPlane.endpoint");
  if (endpoint === "" && !rules.endpointElsewhere) return ["cluster controlplane endpoint is required"];
  const faults: string[] = [];
  const fault = endpoint === "" ? undefined : endpointFault(endpoint);
  if (fault !== undefined) faults.push(`invalid controlplane endpoint: ${fault}`);
  const domain = textAt(cluster, "network.dnsDomain");
  if (domain !== "" && !isDnsName(domain)) faults.push(`${quoted(domain)} is not a valid DNS name`);
  faults.push(...cloudProviderFaults(sectionAt(cluster, "externalCloudProvider")));
  const etcd = sectionAt(cluster, "etcd");
  if (etcd !== undefined) {
    if (rules.controlPlane) faults.push(...etcdFaults(etcd));
    else faults.push("etcd config is only allowed on control plane machines");
  }
  if (!rules.controlPlane && textAt(cluster, "ca.key") !== "") {
    faults.push("cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)");
  }
  faults.push(
    ...manifestFaults(cluster),
    ...discoveryFaults(cluster),
    ...apiServerFaults(sectionAt(cluster, "apiServer")),
    ...resourceFaults(sectionAt(cluster, "controllerManager"), "controller-manager"),
    ...resourceFaults(sectionAt(cluster, "scheduler"), "scheduler"),
  );
  return faults;
}

function isDnsName(name: string): boolean {
  if (name.replaceAll(".", "").length > 255) return false;
  return /^([a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$/.test(name);
}

function cloudProviderFaults(provider: Section | undefined): readonly string[] {
  if (provider === undefined) return [];
  const manifests = textsAt(provider, "manifests");
  if (valueAt(provider, "enabled") !== true && manifests.length > 0) {
    return ["external cloud provider is disabled, but manifests are provided"];
  }
  return manifests.flatMap((url) => {
    const fault = endpointFault(url);
    return fault === undefined ? [] : [`invalid external cloud provider manifest url ${quoted(url)}: ${fault}`];
  });
}

function etcdFaults(etcd: Section): readonly string[] {
  const faults: string[] = [];
  if (sectionAt(etcd, "ca") === undefined) faults.push("key/cert combination should not be empty");
  const [subnet, advertised] = [textAt(etcd, "subnet"), textsAt(etcd, "advertisedSubnets")];
  if (subnet !== "" && advertised.length > 0) {
    faults.push("etcd subnet can't be set when advertised subnets are set");
  }
  const listen = textsAt(etcd, "listenSubnets");
  const invalid = (kind: string, subnets: readonly string[]): void => {
    for (const text of subnets) {
      if (!isSubnetOrAddress(text)) faults.push(`etcd ${kind} subnet is not valid: ${quoted(text.replace(/^!/, ""))}`);
    }
  };
  invalid("advertised", advertised.length > 0 || subnet === "" ? advertised : [subnet]);
  invalid("listen", listen.length > 0 ? listen : advertised);
  return faults;
}

function manifestFaults(cluster: Section): readonly string[] {
  const seen = new Set<string>();
  return sectionsAt(cluster, "inlineManifests").flatMap((manifest) => {
    const name = textAt(manifest, "name");
    const faults: string[] = [];
    if (name.trim() === "") faults.push("inline manifest name can't be empty");
    if (seen.has(name)) faults.push(`inline manifest name ${quoted(name)} is duplicate`);
    seen.add(name);
    return faults;
  });
}

function discoveryFaults(cluster: Section): readonly string[] {
  if (valueAt(cluster, "discovery.enabled") !== true) return [];
  if (valueAt(cluster, "discovery.registries.service.disabled") === true) return [];
  const faults: string[] = [];
  const endpoint = textAt(cluster, "discovery.registries.service.endpoint");
  const fault = endpoint === "" ? undefined : requestUrlFault(endpoint);
  if (fault !== undefined) faults.push(`cluster discovery service registry endpoint is invalid: ${fault}`);
  else if (!["", "/"].includes(urlParts(endpoint).path)) faults.push("cluster discovery service path should be empty");
  if (textAt(cluster, "id") === "") faults.push("cluster discovery service requires .cluster.id");
  if (textAt(cluster, "secret") === "") faults.push("cluster discovery service requires .cluster.secret");
  return faults;
}

export const authorizerTypes = ["Node", "RBAC", "Webhook"];

function apiServerFaults(server: Section | undefined): readonly string[] {
  if (server === undefined) return [];
  const authorizers = valueAt(server, "authorizationConfig");
  if (authorizers !== undefined) {
    for (const flag of sectionAt(server, "extraArgs")?.keys() ?? []) {
      if (flag === "authorization-mode") {
        return [
          "authorization-mode cannot be used in conjunction with AuthorizationConfig, use eitherr AuthorizationConfig or authorization-mode",
        ];
      }
      if (flag.startsWith("authorization-webhook-")) {
        return [
          "authorization-webhook-* flags cannot be used in conjunction with AuthorizationConfig, use either AuthorizationConfig or authorization-webhook-* flags",
        ];
      }
    }
  }
  for (const authorizer of sectionsAt(server, "authorizationConfig")) {
    const fault = authorizerFault(textAt(authorizer, "type"), textAt(authorizer, "name"));
    if (fault !== undefined) return [`apiserver authorization config validation failed: ${fault}`];
  }
  return resourceFaults(server, "apiserver");
}

function authorizerFault(type: string, name: string): string | undefined {
  if (type === "") return "authorizer type must be set";
  if (name === "") return "authorizer name must be set";
  if (authorizerTypes.includes(type)) return undefined;
  return `authorizer type ${type} is not allowed, allowed types are [${authorizerTypes.join(" ")}]`;
}

function resourceFaults(component: Section | undefined, name: string): readonly string[] {
  const fault = resourcesFault(sectionAt(component, "resources"));
  return fault === undefined ? [] : [`${name} resource validation failed: ${fault}`];
}

/** Pods may ask for and be limited in memory and CPU only. */
export function resourcesFault(resources: Section | undefined): string | undefined {
  for (const part of ["requests", "limits"]) {
    for (const key of sectionAt(resources, part)?.keys() ?? []) {
      if (key !== "memory" && key !== "cpu") return `unsupported pod resource ${quoted(key)}`;
    }
  }
  return undefined;
}

/** Checks cluster.network.cni of a control plane. */
export function checkCni(cni: Section | undefined, { errors, warnings }: Findings): void {
  const name = cni === undefined ? "flannel" : textAt(cni, "name");
  const urls = textsAt(cni, "urls");
  switch (name) {
    case "flannel":
      if (urls.length > 0) errors.push(`"urls" field should be empty for ${quoted(name)} CNI`);
      return;
    case "none":
      if (urls.length > 0) errors.push(`"urls" field should be empty for ${quoted(name)} CNI`);
      errors.push(...flannelFaults(cni, name));
      return;
    case "custom":
      if (urls.length === 0) warnings.push(`"urls" field should not be empty for ${quoted(name)} CNI`);
      errors.push(...flannelFaults(cni, name));
      errors.push(...urls.map(endpointFault).filter((fault) => fault !== undefined));
      return;
    default:
      errors.push('cni name should be one of ["flannel", "custom", "none"]');
  }
}

function flannelFaults(cni: Section | undefined, name: string): readonly string[] {
  const faults: string[] = [];
  if (listAt(cni, "flannel.extraArgs").length > 0) {
    faults.push(`"flanneldExtraArgs" field should be empty for ${quoted(name)} CNI`);
  }
  if (valueAt(cni, "flannel.kubeNetworkPoliciesEnabled") === true) {
    faults.push(`"flannelKubeNetworkPoliciesEnabled" should not be enabled for ${quoted(name)} CNI`);
  }
  return faults;
}
