// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { checkEndpoint } from "../../../talos/check-endpoint.ts";
import {
  generateConfigWithFacts,
  generateMachineConfig,
  MachineConfig,
  type MachineConfigInput,
  readMachineFacts,
  schedulesOnControlPlanes,
  validateConfig,
} from "../../../talos/config/index.ts";
import { parseYaml, toPlainData } from "../../../talos/yaml/index.ts";
import { clusterOf, contracts, secrets } from "./golden-secrets.ts";

interface Documents {
  readonly v1alpha1: Record<string, never>;
  of(kind: string): Record<string, unknown> | undefined;
}

function documentsOf(text: string): Documents {
  const all = parseYaml(text, "config").map(toPlainData) as Record<string, never>[];
  const [first = {}] = all;
  return { v1alpha1: first, of: (kind) => all.find((document) => document.kind === kind) };
}

const everything: MachineConfigInput = {
  type: "controlplane",
  hostname: "cp-1",
  links: [{ name: "eth0", addresses: ["10.5.0.11/24", "fd00::11/64"], gateway: "10.5.0.1", mtu: 1450 }],
  nameservers: ["1.1.1.1"],
  searchDomains: ["example.org"],
  nodeLabels: { zone: "a" },
  nodeTaints: { dedicated: "db:NoExecute" },
};

describe.each(contracts)("contract %s", (contract) => {
  const cluster = clusterOf(contract, {
    cni: { name: "none" },
    kubeProxy: false,
    kubespan: true,
    podSubnets: ["10.200.0.0/16", "fd00:10:200::/56"],
    serviceSubnets: ["10.201.0.0/16", "fd00:10:201::/112"],
    registryMirrors: { "docker.io": ["https://mirror.example.org"] },
    virtualIp: { address: "10.5.0.10", link: "eth0" },
    additionalSans: ["api.example.org"],
    dnsDomain: "k8s.example.org",
  });

  test.each(["controlplane", "worker"] as const)("a %s with all options is valid in every mode", (type) => {
    const text = generateMachineConfig(cluster, secrets, { ...everything, type });
    for (const mode of ["metal", "cloud", "container"] as const) {
      const talos = cluster.talosVersion;
      expect(validateConfig(new MachineConfig(text), { mode, talos }).findings).toEqual([]);
    }
  });

  test.each([
    ["no patch", []],
    ["a merged patch", ["machine:\n  install: { disk: /dev/vdb }\n  network: { interfaces: [{ interface: eth0 }] }\n"]],
    ["a deleted part", ["cluster:\n  discovery: { $patch: delete }\n"]],
    ["a JSON patch", ['[{ "op": "replace", "path": "/machine/token", "value": "a.b" }]']],
  ])("its facts are the same before it is written and after it is read, with %s", (name, patches) => {
    // JSON patches are for configs of one document.
    if (name === "a JSON patch" && generateMachineConfig(cluster, secrets, everything).includes("\n---\n")) return;
    for (const type of ["controlplane", "worker"] as const) {
      const { config, facts } = generateConfigWithFacts(cluster, secrets, { ...everything, type, patches });
      expect(config.text).toBe(generateMachineConfig(cluster, secrets, { ...everything, type, patches }));
      const { hostname, namesItself, installImage, installDisk } = readMachineFacts(config.text);
      expect(facts).toEqual({ hostname, namesItself, installImage, installDisk });
    }
  });

  test("its facts are those it was made from", () => {
    const text = generateMachineConfig(cluster, secrets, everything);
    expect(readMachineFacts(text)).toMatchObject({
      type: "controlplane",
      token: secrets.trustdInfo.token,
      osCa: secrets.certs.os,
      kubernetesCa: secrets.certs.k8s,
      etcdCa: secrets.certs.etcd,
      certSans: ["api.example.org"],
      hostname: "cp-1",
      clusterName: "demo",
      clusterId: secrets.cluster.id,
      endpoint: "https://10.5.0.10:6443",
      bootstrapToken: secrets.secrets.bootstrapToken,
      kubernetesVersion: cluster.kubernetesVersion,
      installDisk: "/dev/sda",
      dnsDomain: "k8s.example.org",
      podSubnets: cluster.podSubnets,
      serviceSubnets: cluster.serviceSubnets,
      nodeTaints: expect.objectContaining({ dedicated: "db:NoExecute" }),
      allowSchedulingOnControlPlanes: false,
      discovery: true,
      virtualIps: ["10.5.0.10"],
    });
  });

  test("a worker has no secret of the control plane", () => {
    const text = generateMachineConfig(cluster, secrets, { type: "worker" });
    for (const { key } of Object.values(secrets.certs)) {
      expect(text).not.toContain(Buffer.from(key).toString("base64"));
      expect(text).not.toContain(key.split("\n")[1]);
    }
    expect(text).not.toContain(secrets.secrets.secretboxEncryptionSecret);
    const facts = readMachineFacts(text);
    expect(facts.kubernetesCa).toEqual({ certificate: secrets.certs.k8s.certificate });
    expect(facts.virtualIps).toEqual([]);
  });

  test.each(["controlplane", "worker"] as const)("a %s waits for a cloud controller, and has its id", (type) => {
    const cloud = clusterOf(contract, { externalCloudProvider: true });
    const providerId = "aws:///eu-central-1a/i-0123456789abcdef0";
    const text = generateMachineConfig(cloud, secrets, { type, providerId });
    const { v1alpha1, of } = documentsOf(text);
    expect(v1alpha1).toMatchObject({ cluster: { externalCloudProvider: { enabled: true } } });
    const legacy = (v1alpha1.machine as { kubelet?: object } | undefined)?.kubelet;
    expect(of("KubeletConfig") ?? legacy).toMatchObject({ extraArgs: { "provider-id": providerId } });
    const talos = cloud.talosVersion;
    expect(validateConfig(new MachineConfig(text), { mode: "cloud", talos }).findings).toEqual([]);
    // In Talos's own order: a patch that changes nothing writes the same bytes.
    expect(generateMachineConfig(cloud, secrets, { type, providerId, patches: ["machine: {}"] })).toBe(text);
    const plain = generateMachineConfig(clusterOf(contract), secrets, { type });
    expect(plain).not.toMatch(/externalCloudProvider|extraArgs/);
  });

  test("control planes that take pods are not kept out of load balancers", () => {
    const open = clusterOf(contract, { allowSchedulingOnControlPlanes: true });
    const text = generateMachineConfig(open, secrets, { type: "controlplane" });
    expect(text).not.toContain("exclude-from-external-load-balancers");
    expect(readMachineFacts(text).allowSchedulingOnControlPlanes).toBe(true);
    const spared = generateMachineConfig(clusterOf(contract), secrets, { type: "controlplane" });
    expect(spared).toContain("exclude-from-external-load-balancers");
    expect(readMachineFacts(spared).allowSchedulingOnControlPlanes).toBe(false);
  });
});

test("up to 1.11 the network is part of the machine section", () => {
  const text = generateMachineConfig(
    clusterOf("v1.11", { virtualIp: { address: "10.5.0.10", link: "eth0" } }),
    secrets,
    everything,
  );
  expect(documentsOf(text).v1alpha1).toMatchObject({
    machine: {
      network: {
        hostname: "cp-1",
        interfaces: [
          {
            interface: "eth0",
            addresses: ["10.5.0.11/24", "fd00::11/64"],
            routes: [{ network: "0.0.0.0/0", gateway: "10.5.0.1" }],
            mtu: 1450,
            vip: { ip: "10.5.0.10" },
          },
        ],
        nameservers: ["1.1.1.1"],
        searchDomains: ["example.org"],
      },
    },
  });
});

test("from 1.12 on the network is made of documents", () => {
  const documents = documentsOf(generateMachineConfig(clusterOf("v1.13"), secrets, everything));
  expect(documents.of("HostnameConfig")).toMatchObject({ auto: "off", hostname: "cp-1" });
  expect(documents.of("LinkConfig")).toMatchObject({
    name: "eth0",
    up: true,
    mtu: 1450,
    routes: [{ gateway: "10.5.0.1" }],
  });
  expect(documents.of("ResolverConfig")).toMatchObject({ nameservers: [{ address: "1.1.1.1" }] });
});

test("a virtual address on a link without fixed addresses leaves DHCP on", () => {
  const cluster = clusterOf("v1.11", { virtualIp: { address: "10.5.0.10", link: "eth1" } });
  const text = generateMachineConfig(cluster, secrets, { type: "controlplane" });
  expect(text).toContain(
    "- interface: eth1\n              dhcp: true\n              vip:\n                ip: 10.5.0.10\n",
  );
});

test("a custom CNI is fetched from its URLs", () => {
  const cni = { name: "custom", urls: ["https://example.org/a.yaml", "https://example.org/b.yaml"] } as const;
  const legacy = generateMachineConfig(clusterOf("v1.13", { cni }), secrets, { type: "controlplane" });
  expect(documentsOf(legacy).v1alpha1).toMatchObject({ cluster: { network: { cni } } });
  const split = generateMachineConfig(clusterOf("v1.14", { cni }), secrets, { type: "controlplane" });
  expect(split).not.toContain("KubeFlannelCNIConfig");
  expect(split.match(/kind: KubeExternalManifestConfig\nname: (\S+)/g)).toHaveLength(2);
});

test.each([
  [undefined, 0, true],
  [undefined, 2, false],
  [false, 0, false],
  [true, 3, true],
])("with the wish %s and %d workers, control planes take pods: %s", (wish, workers, expected) => {
  expect(schedulesOnControlPlanes(wish, workers)).toBe(expected);
});

test.each([
  ["10.5.0.10", 'no scheme and port specified for the cluster endpoint URL\ntry: "https://10.5.0.10:6443"'],
  ["10.5.0.10:6443", 'no scheme specified for the cluster endpoint URL\ntry: "https://10.5.0.10:6443"'],
  [
    "http://10.5.0.10:6443",
    'the control plane endpoint URL should have scheme https://\ntry: "https://10.5.0.10:6443"',
  ],
  ["https://", "failed to parse the cluster endpoint URL"],
])("the endpoint %s is refused in talosctl's words", (endpoint, message) => {
  expect(() => checkEndpoint(endpoint)).toThrow(message);
});

describe("the facts of a config that a machine would refuse", () => {
  const text = generateMachineConfig(clusterOf("v1.13"), secrets, { type: "controlplane" });
  test.each([
    ["nothing", "", "config not found"],
    ["no machine", "version: v1alpha1\ncluster:\n    clusterName: x\n", "machine instructions are required"],
    ["an unknown key", text.replace("    token:", "    tokne: x\n    token:"), "unknown keys found during decoding"],
    ["an unknown type", text.replace("type: controlplane", "type: master"), 'unknown machine type "master"'],
    ["no endpoint", text.replace(/ {4}controlPlane:\n.*\n/, ""), "cluster controlplane endpoint is required"],
  ])("with %s are not given", (_, damaged, message) => {
    expect(() => readMachineFacts(damaged)).toThrow(message);
  });
});
