// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { apiServerRuns, kubernetesServes, machinesOf, staticPodReady } from "../controllers/membership.ts";
import { bootstrapManifests } from "../kubernetes/bootstrap-manifests.ts";
import { isNodeReady, isUnschedulable } from "../kubernetes/node.ts";
import { staticPodManifest, staticPodRequests, staticPodStatus } from "../kubernetes/static-pod.ts";
import { getObject } from "../kubernetes/store.ts";
import { type StaticPodName, serviceIp, staticPodNames } from "../machine/node-config.ts";
import {
  type ConfiguredView,
  configured,
  controlPlane,
  onlyConfigured,
  onlyControlPlane,
  type Producer,
} from "./item.ts";

/** A component of a control plane, which counts the changes of its config itself. */
const component = (id: StaticPodName, spec: (view: ConfiguredView) => object): Producer =>
  controlPlane((view) => {
    const unset = { extraArgs: {}, extraVolumes: [], environmentVariables: {} };
    const resources = { requests: staticPodRequests[id], limits: {} };
    return [{ id, version: view.machine.components[id]?.version ?? 1, spec: { ...spec(view), ...unset, resources } }];
  });

export const kubernetesResources: Readonly<Record<string, Producer>> = {
  "Nodenames.kubernetes.talos.dev": onlyConfigured("nodename", ({ hostname }) => ({
    nodename: hostname,
    hostnameVersion: "1",
    skipNodeRegistration: false,
  })),
  "NodeIPs.kubernetes.talos.dev": onlyConfigured("kubelet", ({ machine }) => ({ addresses: [machine.address] })),
  "NodeStatuses.kubernetes.talos.dev": ({ cluster, hostname }) => {
    const node = getObject(cluster, "nodes", undefined, hostname);
    if (node === undefined) return [];
    const { labels = {}, annotations = {} } = node.metadata;
    const ready = isNodeReady(node);
    const spec = { nodename: hostname, nodeReady: ready, unschedulable: isUnschedulable(node), labels, annotations };
    return [{ id: hostname, spec }];
  },
  "KubeletConfigs.kubernetes.talos.dev": onlyConfigured("kubelet", ({ config }) => ({
    image: config.images.kubelet,
    clusterDNS: config.serviceSubnets.map((subnet) => serviceIp(subnet, 10)),
    clusterDomain: config.dnsDomain,
    cloudProviderExternal: false,
    defaultRuntimeSeccompEnabled: true,
    skipNodeRegistration: false,
    staticPodListURL: "http://127.0.0.1:39969",
    disableManifestsDirectory: true,
    enableFSQuotaMonitoring: true,
    allowSchedulingOnControlPlane: config.allowSchedulingOnControlPlanes,
  })),
  "KubeletSpecs.kubernetes.talos.dev": onlyConfigured("kubelet", ({ config, hostname, machine }) => ({
    image: config.images.kubelet,
    args: [
      "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubeconfig",
      "--cert-dir=/var/lib/kubelet/pki",
      "--config=/etc/kubernetes/kubelet.yaml",
      `--hostname-override=${hostname}`,
      "--kubeconfig=/etc/kubernetes/kubeconfig-kubelet",
      `--node-ip=${machine.address}`,
    ],
    expectedNodename: hostname,
  })),
  "KubePrismStatuses.kubernetes.talos.dev": onlyConfigured("k8s-loadbalancer", ({ world, config, now }) => ({
    host: "127.0.0.1:7445",
    healthy: kubernetesServes(world, config.clusterKey, now),
  })),
  "APIServerConfigs.kubernetes.talos.dev": component("kube-apiserver", ({ config }) => ({
    image: config.images.apiServer,
    cloudProvider: "",
    controlPlaneEndpoint: config.endpoint,
    etcdServers: ["https://127.0.0.1:2379"],
    localPort: 6443,
    serviceCIDRs: config.serviceSubnets,
    advertisedAddress: "$(POD_IP)",
  })),
  "ControllerManagerConfigs.kubernetes.talos.dev": component("kube-controller-manager", ({ config }) => ({
    enabled: true,
    image: config.images.controllerManager,
    cloudProvider: "",
    podCIDRs: config.podSubnets,
    serviceCIDRs: config.serviceSubnets,
  })),
  "SchedulerConfigs.kubernetes.talos.dev": component("kube-scheduler", ({ config }) => ({
    enabled: true,
    image: config.images.scheduler,
    config: {},
  })),
  "BootstrapManifestsConfigs.kubernetes.talos.dev": onlyControlPlane("manifests", ({ config }) => ({
    server: config.endpoint,
    clusterDomain: config.dnsDomain,
    podCIDRs: config.podSubnets,
    proxyEnabled: config.proxyEnabled,
    proxyImage: config.images.proxy,
    coreDNSEnabled: config.coreDnsEnabled,
    dnsServiceIP: serviceIp(config.serviceSubnets[0], 10),
    flannelEnabled: config.cniName === "flannel",
    cniName: config.cniName,
  })),
  "Manifests.kubernetes.talos.dev": controlPlane(({ config }) =>
    bootstrapManifests(config).map(({ id, objects }) => ({ id, spec: objects })),
  ),
  "ManifestStatuses.kubernetes.talos.dev": controlPlane(({ config, world, now }) =>
    kubernetesServes(world, config.clusterKey, now)
      ? [{ id: "manifests", spec: { manifestsApplied: bootstrapManifests(config).map(({ id }) => id) } }]
      : [],
  ),
  "StaticPods.kubernetes.talos.dev": controlPlane(({ config, machine }) =>
    machine.services.etcd?.health === "healthy"
      ? staticPodNames.map((name) => ({
          id: name,
          spec: staticPodManifest(name, config, machine.components[name]?.version ?? 1),
        }))
      : [],
  ),
  "StaticPodStatuses.kubernetes.talos.dev": controlPlane(({ world, machine, hostname, now }) => {
    if (machine.staticPodsAt === undefined) return [];
    return staticPodNames.map((name) => ({
      id: `kube-system/${name}-${hostname}`,
      spec: staticPodStatus(name, machine, staticPodReady(world, machine, name, now)),
    }));
  }),
  "Endpoints.kubernetes.talos.dev": configured(({ world, config, now }) => {
    const addresses = machinesOf(world, config.clusterKey)
      .filter((machine) => apiServerRuns(machine, now))
      .map((machine) => machine.address)
      .sort();
    return addresses.length === 0 || !kubernetesServes(world, config.clusterKey, now)
      ? []
      : [{ id: "kube-apiserver", spec: { addresses, hosts: [] } }];
  }),
  "SecretStatuses.kubernetes.talos.dev": onlyControlPlane("static-pods", () => ({ ready: true, version: "1" })),
  "ConfigStatuses.kubernetes.talos.dev": onlyControlPlane("static-pods", () => ({ ready: true, version: "1" })),
  "KubeletKubeconfigs.kubernetes.talos.dev": onlyConfigured("kubelet", ({ config, hostname }) => ({
    hash: createHash("sha256")
      .update(config.endpoint + hostname)
      .digest("hex")
      .slice(0, 16),
  })),
};
