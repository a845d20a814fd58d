// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../given.ts";
import { requestUrlFault } from "../document/url.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { endpointFault, subnetFaults, urlParts } from "./addresses.ts";
import { about, type Faults, type Findings, quoted, unset } from "./findings.ts";

export interface ClusterRules {
  readonly controlPlane: boolean;
  /** Contract 1.14: the endpoint stands in a document of its own. */
  readonly endpointElsewhere: boolean;
}

/** Checks the cluster section of the v1alpha1 document. */
export function clusterFaults(cluster: Section | undefined, rules: ClusterRules): Faults {
  if (cluster === undefined) return ["cluster instructions are required"];
  const endpoint = textAt(cluster, "controlPlane.endpoint");
  if (endpoint === "" && !rules.endpointElsewhere) return ["cluster controlplane endpoint is required"];
  return faultsOf(cluster, endpoint, rules);
}

function* faultsOf(cluster: Section, endpoint: string, rules: ClusterRules): Faults {
  if (endpoint !== "") yield* about("invalid controlplane endpoint", endpointFault(endpoint));
  const domain = textAt(cluster, "network.dnsDomain");
  if (domain !== "" && !isDnsName(domain)) yield `${quoted(domain)} is not a valid DNS name`;
  yield* cloudProviderFaults(sectionAt(cluster, "externalCloudProvider"));
  const etcd = sectionAt(cluster, "etcd");
  if (etcd !== undefined && rules.controlPlane) yield* etcdFaults(etcd);
  if (etcd !== undefined && !rules.controlPlane) yield "etcd config is only allowed on control plane machines";
  if (!rules.controlPlane && textAt(cluster, "ca.key") !== "")
    yield "cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)";
  yield* manifestFaults(cluster);
  yield* discoveryFaults(cluster);
  yield* apiServerFaults(sectionAt(cluster, "apiServer"));
  yield* resourceFaults(sectionAt(cluster, "controllerManager"), "controller-manager");
  yield* resourceFaults(sectionAt(cluster, "scheduler"), "scheduler");
}

function isDnsName(name: string): boolean {
  if (name.replaceAll(".", "").length > 255) return false;
  return /^([a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$/.test(name);
}

function* cloudProviderFaults(provider: Section | undefined): Faults {
  const manifests = textsAt(provider, "manifests");
  if (valueAt(provider, "enabled") !== true && manifests.length > 0)
    yield "external cloud provider is disabled, but manifests are provided";
  else
    for (const url of manifests)
      yield* about(`invalid external cloud provider manifest url ${quoted(url)}`, endpointFault(url));
}

function* etcdFaults(etcd: Section): Faults {
  if (sectionAt(etcd, "ca") === undefined) yield "key/cert combination should not be empty";
  const [subnet, advertised] = [textAt(etcd, "subnet"), textsAt(etcd, "advertisedSubnets")];
  if (subnet !== "" && advertised.length > 0) yield "etcd subnet can't be set when advertised subnets are set";
  const listen = textsAt(etcd, "listenSubnets");
  yield* subnetFaults(advertised.length > 0 || subnet === "" ? advertised : [subnet], "etcd advertised subnet");
  yield* subnetFaults(listen.length > 0 ? listen : advertised, "etcd listen subnet");
}

function* manifestFaults(cluster: Section): Faults {
  const seen = new Set<string>();
  for (const manifest of sectionsAt(cluster, "inlineManifests")) {
    const name = textAt(manifest, "name");
    if (name.trim() === "") yield "inline manifest name can't be empty";
    if (seen.has(name)) yield `inline manifest name ${quoted(name)} is duplicate`;
    seen.add(name);
  }
}

function* discoveryFaults(cluster: Section): Faults {
  if (valueAt(cluster, "discovery.enabled") !== true) return;
  if (valueAt(cluster, "discovery.registries.service.disabled") === true) return;
  const endpoint = textAt(cluster, "discovery.registries.service.endpoint");
  const fault = endpoint === "" ? undefined : requestUrlFault(endpoint);
  if (fault !== undefined) yield `cluster discovery service registry endpoint is invalid: ${fault}`;
  else if (!["", "/"].includes(urlParts(endpoint).path)) yield "cluster discovery service path should be empty";
  const requires = "cluster discovery service requires";
  yield* unset(cluster, { id: `${requires} .cluster.id`, secret: `${requires} .cluster.secret` });
}

export const authorizerTypes = ["Node", "RBAC", "Webhook"];

/** Of the API server the first fault alone. */
function* apiServerFaults(server: Section | undefined): Faults {
  const fault = authorizationFault(server);
  if (fault === undefined) yield* resourceFaults(server, "apiserver");
  else yield fault;
}

function authorizationFault(server: Section | undefined): string | undefined {
  const isConfigured = valueAt(server, "authorizationConfig") !== undefined;
  for (const flag of (isConfigured && sectionAt(server, "extraArgs")?.keys()) || []) {
    if (flag === "authorization-mode")
      return "authorization-mode cannot be used in conjunction with AuthorizationConfig, use eitherr AuthorizationConfig or authorization-mode";
    if (flag.startsWith("authorization-webhook-"))
      return "authorization-webhook-* flags cannot be used in conjunction with AuthorizationConfig, use either AuthorizationConfig or authorization-webhook-* flags";
  }
  for (const authorizer of sectionsAt(server, "authorizationConfig")) {
    const fault = authorizerFault(textAt(authorizer, "type"), textAt(authorizer, "name"));
    if (fault !== undefined) return `apiserver authorization config validation failed: ${fault}`;
  }
  return undefined;
}

function authorizerFault(type: string, name: string): string | undefined {
  if (type === "") return "authorizer type must be set";
  if (name === "") return "authorizer name must be set";
  if (authorizerTypes.includes(type)) return undefined;
  return `authorizer type ${type} is not allowed, allowed types are [${authorizerTypes.join(" ")}]`;
}

function resourceFaults(component: Section | undefined, name: string): Faults {
  return about(`${name} resource validation failed`, resourcesFault(sectionAt(component, "resources")));
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
export function* cniFindings(cni: Section | undefined): Findings {
  const name = cni === undefined ? "flannel" : textAt(cni, "name");
  const urls = textsAt(cni, "urls");
  if (!["flannel", "custom", "none"].includes(name)) {
    yield 'cni name should be one of ["flannel", "custom", "none"]';
    return;
  }
  const custom = name === "custom";
  if (custom && urls.length === 0) yield { warning: `"urls" field should not be empty for ${quoted(name)} CNI` };
  if (!custom && urls.length > 0) yield `"urls" field should be empty for ${quoted(name)} CNI`;
  if (name !== "flannel" && listAt(cni, "flannel.extraArgs").length > 0)
    yield `"flanneldExtraArgs" field should be empty for ${quoted(name)} CNI`;
  if (name !== "flannel" && valueAt(cni, "flannel.kubeNetworkPoliciesEnabled") === true)
    yield `"flannelKubeNetworkPoliciesEnabled" should not be enabled for ${quoted(name)} CNI`;
  if (custom) yield* urls.map(endpointFault).filter(isGiven);
}
