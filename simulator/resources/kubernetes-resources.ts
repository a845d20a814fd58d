// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { apiServerRuns, kubernetesServes, machinesOf, staticPodReady } from "../controllers/membership.ts";
import { bootstrapManifests } from "../kubernetes/bootstrap-manifests.ts";
import { isNodeReady, isUnschedulable } from "../kubernetes/node.ts";
import { staticPodManifest, staticPodStatus } from "../kubernetes/static-pod.ts";
import { getObject } from "../kubernetes/store.ts";
import { type StaticPodName, serviceIp, staticPodNames } from "../machine/node-config.ts";
import { type ConfiguredView, configured, controlPlane, only, type Producer, type Source } from "./item.ts";

/** A component of a control plane, which counts the changes of its config itself. */
const component = (id: StaticPodName, spec: (view: ConfiguredView) => unknown): Producer =>
  controlPlane((view) => [{ id, version: view.machine.components[id]?.version ?? 1, spec: spec(view) }]);

export const kubernetesResources: Readonly<Record<string, Source>> = {
  "Nodenames.kubernetes.talos.dev": {
    owner: "k8s.NodenameController",
    items: configured(
      only("nodename", ({ hostname }) => ({ nodename: hostname, hostnameVersion: "1", skipNodeRegistration: false })),
    ),
  },
  "NodeIPs.kubernetes.talos.dev": {
    owner: "k8s.NodeIPController",
    items: configured(({ machine }) => [{ id: "kubelet", spec: { addresses: [machine.address] } }]),
  },
  "NodeStatuses.kubernetes.talos.dev": {
    owner: "k8s.NodeStatusController",
    items: ({ cluster, hostname }) => {
      const node = getObject(cluster, "nodes", undefined, hostname);
      if (node === undefined) return [];
      const { labels = {}, annotations = {} } = node.metadata;
      const ready = isNodeReady(node);
      const spec = { nodename: hostname, nodeReady: ready, unschedulable: isUnschedulable(node), labels, annotations };
      return [{ id: hostname, spec }];
    },
  },
  "KubeletConfigs.kubernetes.talos.dev": {
    owner: "k8s.KubeletConfigController",
    items: configured(
      only("kubelet", ({ config }) => ({
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
    ),
  },
  "KubeletSpecs.kubernetes.talos.dev": {
    owner: "k8s.KubeletSpecController",
    items: configured(
      only("kubelet", ({ config, hostname, machine }) => ({
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
    ),
  },
  "KubePrismStatuses.kubernetes.talos.dev": {
    owner: "k8s.KubePrismController",
    items: configured(
      only("k8s-loadbalancer", ({ world, config, now }) => ({
        host: "127.0.0.1:7445",
        healthy: kubernetesServes(world, config.clusterKey, now),
      })),
    ),
  },
  "APIServerConfigs.kubernetes.talos.dev": {
    owner: "k8s.ControlPlaneAPIServerController",
    items: component("kube-apiserver", ({ config }) => ({
      image: config.images.apiServer,
      cloudProvider: "",
      controlPlaneEndpoint: config.endpoint,
      etcdServers: ["https://127.0.0.1:2379"],
      localPort: 6443,
      serviceCIDRs: config.serviceSubnets,
      extraArgs: {},
      extraVolumes: [],
      environmentVariables: {},
      advertisedAddress: "$(POD_IP)",
      resources: { requests: { cpu: "200m", memory: "512Mi" }, limits: {} },
    })),
  },
  "ControllerManagerConfigs.kubernetes.talos.dev": {
    owner: "k8s.ControlPlaneControllerManagerController",
    items: component("kube-controller-manager", ({ config }) => ({
      enabled: true,
      image: config.images.controllerManager,
      cloudProvider: "",
      podCIDRs: config.podSubnets,
      serviceCIDRs: config.serviceSubnets,
      extraArgs: {},
      extraVolumes: [],
      environmentVariables: {},
      resources: { requests: { cpu: "50m", memory: "256Mi" }, limits: {} },
    })),
  },
  "SchedulerConfigs.kubernetes.talos.dev": {
    owner: "k8s.ControlPlaneSchedulerController",
    items: component("kube-scheduler", ({ config }) => ({
      enabled: true,
      image: config.images.scheduler,
      extraArgs: {},
      extraVolumes: [],
      environmentVariables: {},
      resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: {} },
      config: {},
    })),
  },
  "BootstrapManifestsConfigs.kubernetes.talos.dev": {
    owner: "k8s.ControlPlaneBootstrapManifestsController",
    items: controlPlane(
      only("manifests", ({ config }) => ({
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
    ),
  },
  "Manifests.kubernetes.talos.dev": {
    owner: "k8s.ManifestController",
    items: controlPlane(({ config }) => bootstrapManifests(config).map(({ id, objects }) => ({ id, spec: objects }))),
  },
  "ManifestStatuses.kubernetes.talos.dev": {
    owner: "k8s.ManifestApplyController",
    items: controlPlane(({ config, world, now }) =>
      kubernetesServes(world, config.clusterKey, now)
        ? [{ id: "manifests", spec: { manifestsApplied: bootstrapManifests(config).map(({ id }) => id) } }]
        : [],
    ),
  },
  "StaticPods.kubernetes.talos.dev": {
    owner: "k8s.ControlPlaneStaticPodController",
    items: controlPlane(({ config, machine }) =>
      machine.services.etcd?.health === "healthy"
        ? staticPodNames.map((name) => ({
            id: name,
            spec: staticPodManifest(name, config, machine.components[name]?.version ?? 1),
          }))
        : [],
    ),
  },
  "StaticPodStatuses.kubernetes.talos.dev": {
    owner: "k8s.KubeletStaticPodController",
    items: controlPlane(({ world, machine, hostname, now }) => {
      if (machine.staticPodsAt === undefined) return [];
      return staticPodNames.map((name) => ({
        id: `kube-system/${name}-${hostname}`,
        spec: staticPodStatus(name, machine, staticPodReady(world, machine, name, now)),
      }));
    }),
  },
  "Endpoints.kubernetes.talos.dev": {
    owner: "k8s.EndpointController",
    items: configured(({ world, config, now }) => {
      const addresses = machinesOf(world, config.clusterKey)
        .filter((machine) => apiServerRuns(machine, now))
        .map((machine) => machine.address)
        .sort();
      return addresses.length === 0 || !kubernetesServes(world, config.clusterKey, now)
        ? []
        : [{ id: "kube-apiserver", spec: { addresses, hosts: [] } }];
    }),
  },
  "SecretStatuses.kubernetes.talos.dev": {
    owner: "k8s.RenderSecretsStaticPodController",
    items: controlPlane(() => [{ id: "static-pods", spec: { ready: true, version: "1" } }]),
  },
  "ConfigStatuses.kubernetes.talos.dev": {
    owner: "k8s.RenderConfigsStaticPodController",
    items: controlPlane(() => [{ id: "static-pods", spec: { ready: true, version: "1" } }]),
  },
  "KubeletKubeconfigs.kubernetes.talos.dev": {
    owner: "k8s.KubeletServiceController",
    items: configured(
      only("kubelet", ({ config, hostname }) => ({
        hash: createHash("sha256")
          .update(config.endpoint + hostname)
          .digest("hex")
          .slice(0, 16),
      })),
    ),
  },
};
