// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../given.ts";
import { requestUrlFault } from "../document/url.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";
import { endpointFault, subnetFaults, urlParts } from "./addresses.ts";
import { about, at, type Faults, type Findings, quoted, unset } from "./findings.ts";

interface ClusterCircumstances {
  readonly controlPlane: boolean;
  readonly rules: ConfigRules;
}

/** Checks the cluster section of the v1alpha1 document. */
export function* clusterFindings(cluster: Section | undefined, circumstances: ClusterCircumstances): Findings {
  if (cluster === undefined) {
    yield { error: "cluster instructions are required", path: "cluster" };
    return;
  }
  const missing = endpointMissing(cluster, circumstances.rules);
  if (missing === undefined) yield* sectionFindings(cluster, circumstances);
  else yield { error: missing, path: "cluster.controlPlane.endpoint" };
}

/** From 1.14 on the endpoint may stand in a document of its own; then nothing may be left where it was. */
function endpointMissing(cluster: Section, rules: ConfigRules): string | undefined {
  if (textAt(cluster, "controlPlane.endpoint") !== "") return undefined;
  if (rules.judgesV1alpha1Alone) return "cluster controlplane endpoint is required";
  if (sectionAt(cluster, "controlPlane") === undefined) return undefined;
  return (
    "cluster controlplane endpoint is required (.cluster.controlPlane.endpoint); " +
    "when the endpoint is migrated to the KubeClusterConfig document, the whole .cluster.controlPlane section should be removed " +
    "(.cluster.controlPlane.localAPIServerPort is migrated to the KubeAPIServerConfig document)"
  );
}

function* sectionFindings(cluster: Section, { controlPlane, rules }: ClusterCircumstances): Findings {
  const endpoint = textAt(cluster, "controlPlane.endpoint");
  if (endpoint !== "") {
    const path = "cluster.controlPlane.endpoint";
    yield* at(path, about("invalid controlplane endpoint", endpointFault(endpoint)));
  } else if (!rules.judgesV1alpha1Alone && sectionAt(cluster, "serviceAccount") !== undefined) {
    const error =
      ".cluster.serviceAccount requires the cluster endpoint to be set in the same document (.cluster.controlPlane.endpoint); " +
      "when the cluster endpoint is migrated to the KubeClusterConfig document, .cluster.serviceAccount should be migrated to the KubeServiceAccountConfig document as well";
    yield { error, path: "cluster.serviceAccount" };
  }
  const domain = textAt(cluster, "network.dnsDomain");
  if (domain !== "" && !isDnsName(domain))
    yield { error: `${quoted(domain)} is not a valid DNS name`, path: "cluster.network.dnsDomain" };
  yield* at("cluster.externalCloudProvider", cloudProviderFaults(sectionAt(cluster, "externalCloudProvider")));
  const etcd = sectionAt(cluster, "etcd");
  if (etcd !== undefined && controlPlane) yield* at("cluster.etcd", etcdFaults(etcd));
  if (etcd !== undefined && !controlPlane)
    yield { error: "etcd config is only allowed on control plane machines", path: "cluster.etcd" };
  if (!controlPlane && textAt(cluster, "ca.key") !== "") {
    const error = "cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)";
    yield { error, path: "cluster.ca" };
  }
  yield* at("cluster.inlineManifests", manifestFaults(cluster));
  yield* discoveryFindings(cluster);
  yield* at("cluster.apiServer", apiServerFaults(sectionAt(cluster, "apiServer")));
  yield* at("cluster.controllerManager", resourceFaults(sectionAt(cluster, "controllerManager"), "controller-manager"));
  yield* at("cluster.scheduler", resourceFaults(sectionAt(cluster, "scheduler"), "scheduler"));
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

function* discoveryFindings(cluster: Section): Findings {
  if (valueAt(cluster, "discovery.enabled") !== true) return;
  if (valueAt(cluster, "discovery.registries.service.disabled") === true) return;
  const endpoint = textAt(cluster, "discovery.registries.service.endpoint");
  const fault = endpoint === "" ? undefined : requestUrlFault(endpoint);
  const path = "cluster.discovery.registries.service.endpoint";
  if (fault !== undefined) yield { error: `cluster discovery service registry endpoint is invalid: ${fault}`, path };
  else if (!["", "/"].includes(urlParts(endpoint).path))
    yield { error: "cluster discovery service path should be empty", path };
  const requires = "cluster discovery service requires";
  yield* unset(cluster, { id: `${requires} .cluster.id`, secret: `${requires} .cluster.secret` }, "cluster.");
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
