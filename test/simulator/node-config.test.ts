// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { readNodeConfig } from "../../simulator/machine/node-config.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { type ClusterConfig, generateMachineConfig, type MachineConfigInput } from "../../talos/config/index.ts";
import { beginRotation } from "../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "../engine/fixture.ts";

const secrets = beginRotation(testSecrets(), { cas: ["os", "k8s"], clock: systemClock, entropy: systemEntropy });
const machine: MachineConfigInput = {
  type: "controlplane",
  hostname: "cp-1",
  nodeLabels: { zone: "a" },
  nodeTaints: { dedicated: "db:NoExecute" },
  providerId: "aws:///eu-central-1a/i-0123456789abcdef0",
};

/** The simulator reads configs by itself; whatever the contract, it must find what was meant. */
describe.each(Contract.all().map(String))("a machine of contract %s reads in its config", (contract) => {
  const talosVersion = TalosVersion.newestOf(Contract.parse(contract));
  const read = (options: Partial<ClusterConfig>, type: MachineConfigInput["type"] = "controlplane") => {
    const cluster: ClusterConfig = {
      clusterName: "lab",
      endpoint: "https://10.5.0.10:6443",
      talosVersion,
      kubernetesVersion: talosVersion.defaultKubernetesVersion,
      ...options,
    };
    return readNodeConfig(generateMachineConfig(cluster, secrets, { ...machine, type }));
  };

  test.each([true, false])("whether kube-proxy runs: %s", (kubeProxy) => {
    expect(read({ kubeProxy }).proxyEnabled).toBe(kubeProxy);
  });

  test.each(["flannel", "none"] as const)("the network plugin: %s", (name) => {
    expect(read({ cni: { name } }).cniName).toBe(name);
  });

  test.each([true, false])("whether machines find each other: %s", (discovery) => {
    expect(read({ discovery }).discovery).toBe(discovery);
  });

  test.each([true, false])("whether nodes wait for a cloud controller manager: %s", (externalCloudProvider) => {
    expect(read({ externalCloudProvider }).externalCloudProvider).toBe(externalCloudProvider);
    expect(read({}, "worker").providerId).toBe(machine.providerId);
  });

  test.each([true, false])("whether pods run on control planes: %s", (allowSchedulingOnControlPlanes) => {
    const keys = read({ allowSchedulingOnControlPlanes }).taints.map(({ key }) => key);
    expect(keys.includes("node-role.kubernetes.io/control-plane")).toBe(!allowSchedulingOnControlPlanes);
    expect(keys).toContain("dedicated");
  });

  test.each(["controlplane", "worker"] as const)("names, networks and CAs of a %s", (type) => {
    const options = {
      dnsDomain: "k8s.example.org",
      podSubnets: ["10.200.0.0/16"],
      serviceSubnets: ["10.201.0.0/16"],
      virtualIp: { address: "10.5.0.10", link: "eth0" },
      additionalSans: ["api.example.org"],
      installDisk: "/dev/vdb",
    };
    const isControlPlane = type === "controlplane";
    const { os, k8s } = secrets.rotation ?? {};
    const config = read(options, type);
    expect(config).toMatchObject({
      type,
      clusterName: "lab",
      hostname: "cp-1",
      endpoint: "https://10.5.0.10:6443",
      dnsDomain: "k8s.example.org",
      podSubnets: ["10.200.0.0/16"],
      serviceSubnets: ["10.201.0.0/16"],
      certSans: ["api.example.org"],
      installDisk: "/dev/vdb",
      labels: { zone: "a" },
      osCa: { certificate: secrets.certs.os.certificate, ...(isControlPlane ? { key: secrets.certs.os.key } : {}) },
      acceptedOsCas: [os?.certificate],
      kubernetesCa: { certificate: secrets.certs.k8s.certificate },
      acceptedKubernetesCas: [k8s?.certificate],
    });
    expect(config.virtualIp).toBe(isControlPlane ? "10.5.0.10" : undefined);
    expect(config.images.kubelet).toMatch(`:v${talosVersion.defaultKubernetesVersion}`);
  });
});
