// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import type { MachineType } from "../../talos/config/index.ts";
import { kindType } from "../../talos/config/schema/schema.ts";
import { Contract } from "../../talos/version/index.ts";
import { stringifyYaml, type YamlValue } from "../../talos/yaml/index.ts";
import { randomDocuments } from "./random-documents.ts";

/** A generated config, and patches that may or may not fit it. */
export interface RandomConfig {
  /** As `v1.13`. */
  readonly contract: string;
  readonly type: MachineType;
  /** As texts: pieces of config, or RFC 6902 operations. */
  readonly patches: readonly string[];
}

/** Configs of these contracts with up to three patches: fitting, conflicting, deleting and invalid ones. */
export function randomConfigs(contracts: readonly string[] = Contract.all().map(String)): fc.Arbitrary<RandomConfig> {
  return fc
    .record({
      contract: fc.constantFrom(...contracts),
      type: fc.constantFrom<MachineType>("controlplane", "worker"),
    })
    .chain(({ contract, type }) =>
      fc.array(randomPatch(contract), { minLength: 1, maxLength: 3 }).map((patches) => ({ contract, type, patches })),
    );
}

/** A patch for a config of the contract. */
function randomPatch(contract: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: settingsPatch },
    { weight: 4, arbitrary: fc.constantFrom(...documents.filter(isOld)).map(documentText) },
    { weight: 2, arbitrary: fc.constantFrom(...documents.filter((one) => !isOld(one))).map(documentText) },
    { weight: 2, arbitrary: fc.constantFrom(...deletions) },
    { weight: 3, arbitrary: randomDocuments({ lists: true, words: true }) },
    { weight: 1, arbitrary: fc.constantFrom(...mistakes) },
    ...(Contract.parse(contract).hostnameDocument ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...operations) }]),
  );
}

const yes = fc.boolean();
const number = fc.nat(70_000);
const host = fc.constantFrom("a", "node-1.example.org", "A_b", "x".repeat(70), "-", "yes", "10");
const subnet = fc.constantFrom("10.0.0.0/8", "!10.1.0.0/16", "fd00::/64", "10.0.0.1", "10.0.0", "");
const address = fc.constantFrom("10.5.0.7", "10.5.0.7/24", "fe80::1/64", "1.2.3", "");
const url = fc.constantFrom("https://a.example.org", "http://10.0.0.1:8080/x", "a b", "tcp://h:1", "udp://h:514/");
const words = fc.dictionary(
  fc.constantFrom("a", "vm.max", "net/ipv4", "yes", "1"),
  fc.constantFrom("", "1", "on", "x y"),
  {
    minKeys: 1,
    maxKeys: 3,
  },
);
const labels = fc.dictionary(
  fc.constantFrom("zone", "example.org/zone", "a b", "/x", "node-role.kubernetes.io/control-plane"),
  fc.constantFrom("", "a", "NoSchedule", "a:NoExecute", "not valid"),
  { maxKeys: 3 },
);
const keys = fc.array(
  fc.constantFrom<YamlValue>(
    { slot: 0, nodeID: {} },
    { slot: 0, static: { passphrase: "p" } },
    { slot: 1, kms: { endpoint: "https://k" } },
    { slot: 2 },
  ),
  { maxLength: 3 },
);

/** Settings of the v1alpha1 document with values that are right, and some that are not. */
const settings: Readonly<Record<string, fc.Arbitrary<YamlValue>>> = {
  "machine.kubelet.extraArgs": words,
  "machine.kubelet.extraConfig.maxPods": fc.nat(300),
  "machine.kubelet.extraConfig.port": number,
  "machine.kubelet.nodeIP.validSubnets": fc.array(subnet, { maxLength: 2 }),
  "machine.kubelet.clusterDNS": fc.array(address, { maxLength: 2 }),
  "machine.nodeLabels": labels,
  "machine.nodeAnnotations": labels,
  "machine.nodeTaints": labels,
  "machine.sysctls": words,
  "machine.sysfs": words,
  "machine.env": words,
  "machine.certSANs": fc.array(host, { maxLength: 2 }),
  "machine.network.hostname": host,
  "machine.network.nameservers": fc.array(address, { maxLength: 2 }),
  "machine.network.searchDomains": fc.array(host, { maxLength: 2 }),
  "machine.network.disableSearchDomain": yes,
  "machine.network.kubespan.enabled": yes,
  "machine.network.kubespan.mtu": number,
  "machine.network.kubespan.filters.endpoints": fc.array(subnet, { maxLength: 2 }),
  "machine.network.interfaces": fc.array(
    fc.record<Record<string, YamlValue>>(
      {
        interface: fc.constantFrom("eth0", "eth1"),
        dhcp: yes,
        addresses: fc.array(address, { maxLength: 2 }),
        mtu: number,
        vip: fc.record({ ip: address }),
        routes: fc.array(fc.record({ network: subnet, gateway: address }), { maxLength: 1 }),
      },
      { requiredKeys: ["interface"] },
    ),
    { minLength: 1, maxLength: 2 },
  ),
  "machine.install.disk": fc.constantFrom("", "/dev/vda"),
  "machine.install.extraKernelArgs": fc.array(host, { maxLength: 1 }),
  "machine.install.extensions": fc.constant([{ image: "a" }, { image: "a" }]),
  "machine.time.servers": fc.array(host, { maxLength: 2 }),
  "machine.time.bootTimeout": fc.constantFrom("1m0s", "-1s"),
  "machine.features.hostDNS.enabled": yes,
  "machine.features.hostDNS.forwardKubeDNSToHost": yes,
  "machine.features.stableHostname": yes,
  "machine.features.kubePrism.port": number,
  "machine.features.kubernetesTalosAPIAccess": fc.record({
    enabled: yes,
    allowedRoles: fc.array(fc.constantFrom("os:reader", "nobody"), { maxLength: 2 }),
  }),
  "machine.features.imageCache.localEnabled": yes,
  "machine.registries.mirrors": fc.constant({ "docker.io": { endpoints: ["https://mirror.example.org"] } }),
  "machine.files": fc.constant([{ path: "/var/a", content: "x\n", permissions: 0o600, op: "create" }]),
  "machine.logging.destinations": fc
    .record({ endpoint: url, format: fc.constantFrom("json_lines", "x") })
    .map((one) => [one]),
  "machine.kernel.modules": fc.constant([{ name: "br_netfilter" }]),
  "machine.udev.rules": fc.constant(["a==b"]),
  "machine.systemDiskEncryption.state": fc.record({ provider: fc.constant("luks2"), keys }),
  "machine.controlPlane.scheduler.disabled": yes,
  "machine.type": fc.constantFrom("worker", "join", "x"),
  "cluster.clusterName": host,
  "cluster.controlPlane.endpoint": fc.constantFrom("https://a:6443", "https://a", "a:b", "https://[::1]:6443"),
  "cluster.controlPlane.localAPIServerPort": number,
  "cluster.network.cni.name": fc.constantFrom("none", "flannel", "custom", "calico"),
  "cluster.network.cni.urls": fc.array(url, { maxLength: 1 }),
  "cluster.network.podSubnets": fc.array(subnet, { maxLength: 2 }),
  "cluster.network.dnsDomain": host,
  "cluster.proxy.disabled": yes,
  "cluster.proxy.mode": fc.constantFrom("ipvs", "x"),
  "cluster.discovery.enabled": yes,
  "cluster.discovery.registries.service.endpoint": url,
  "cluster.apiServer.extraArgs": words,
  "cluster.apiServer.certSANs": fc.array(host, { maxLength: 2 }),
  "cluster.apiServer.resources": fc.constantFrom<YamlValue>({ requests: { cpu: "1" } }, { limits: { disk: "1" } }),
  "cluster.apiServer.auditPolicy": fc.constant({ apiVersion: "audit.k8s.io/v1", kind: "Policy" }),
  "cluster.controllerManager.extraArgs": words,
  "cluster.scheduler.extraArgs": words,
  "cluster.scheduler.resources": fc.constantFrom<YamlValue>({ limits: { memory: "1Gi" } }, { limits: { x: "1" } }),
  "cluster.etcd.advertisedSubnets": fc.array(subnet, { maxLength: 2 }),
  "cluster.etcd.extraArgs": words,
  "cluster.inlineManifests": fc.constantFrom<YamlValue>(
    [{ name: "a", contents: "x: 1\n" }],
    [
      { name: "a", contents: "" },
      { name: "a", contents: "" },
    ],
  ),
  "cluster.extraManifests": fc.array(url, { maxLength: 2 }),
  "cluster.coreDNS.disabled": yes,
  "cluster.allowSchedulingOnControlPlanes": yes,
  "cluster.externalCloudProvider": fc.record({ enabled: yes, manifests: fc.array(url, { maxLength: 1 }) }),
  persist: yes,
};

const settingsPatch: fc.Arbitrary<string> = fc
  .subarray(Object.keys(settings), { minLength: 1, maxLength: 4 })
  .chain((paths) =>
    fc.tuple(...paths.map((path) => (settings[path] ?? fc.constant(null)).map((value) => [path, value] as const))),
  )
  .map((entries) => {
    const root: Record<string, YamlValue> = {};
    for (const [path, value] of entries) put(root, path.split("."), value);
    return stringifyYaml(root);
  });

function put(target: Record<string, YamlValue>, [key = "", ...rest]: readonly string[], value: YamlValue): void {
  if (rest.length === 0) target[key] = value;
  else {
    const inner = { ...(target[key] as Record<string, YamlValue> | undefined) };
    put(inner, rest, value);
    target[key] = inner;
  }
}

/** Whether releases before 1.14 know the kind, too. */
function isOld([kind]: readonly [string, YamlValue]): boolean {
  return (kindType(kind)?.since ?? 0) < 14;
}

function documentText([kind, fields]: readonly [string, YamlValue]): string {
  return stringifyYaml({ apiVersion: "v1alpha1", kind, ...(fields as object) });
}

const disk = { diskSelector: { match: 'disk.transport == "nvme"' }, minSize: "10GB" };

/** Documents that fit, or say what the v1alpha1 document or another one says, too, or are not right. */
const documents: readonly (readonly [string, YamlValue])[] = [
  ["HostnameConfig", { hostname: "a", auto: "off" }],
  ["HostnameConfig", { auto: "stable" }],
  ["HostnameConfig", { hostname: "a", auto: "stable" }],
  ["ResolverConfig", { nameservers: [{ address: "1.1.1.1" }], searchDomains: { domains: ["a", "on"] } }],
  ["ResolverConfig", { searchDomains: { domains: ["b"], disableDefault: true } }],
  ["ResolverConfig", { hostDNS: { enabled: true, forwardKubeDNSToHost: true } }],
  ["ResolverConfig", { nameservers: [{ address: "9.9.9.9", protocol: "DoT" }] }],
  ["TimeSyncConfig", { ntp: { servers: ["time.example.org"] }, bootTimeout: "30s" }],
  ["LinkConfig", { name: "eth0", mtu: 1400, addresses: [{ address: "10.5.0.7/24" }] }],
  ["LinkConfig", { name: "eth0", routes: [{ gateway: "10.5.0.1" }] }],
  ["VLANConfig", { name: "eth0", vlanID: 5, parent: "eth1" }],
  ["VLANConfig", { name: "eth0.5", vlanID: 5 }],
  ["BondConfig", { name: "bond0", links: ["eth0", "eth1"], bondMode: "802.3ad" }],
  ["DHCPv4Config", { name: "eth0", clientIdentifier: "mac" }],
  ["Layer2VIPConfig", { name: "10.5.0.10", link: "eth0" }],
  ["RegistryMirrorConfig", { name: "docker.io", endpoints: [{ url: "https://mirror.example.org" }] }],
  ["KubeSpanConfig", { enabled: true }],
  ["VolumeConfig", { name: "EPHEMERAL", provisioning: { maxSize: "50GB" } }],
  ["VolumeConfig", { name: "STATE", encryption: { provider: "luks2", keys: [{ slot: 0, nodeID: {} }] } }],
  ["VolumeConfig", { name: "ETCD", provisioning: disk }],
  ["UserVolumeConfig", { name: "data", provisioning: disk }],
  ["UserVolumeConfig", { name: "data", volumeType: "directory", mount: { secure: true } }],
  ["EnvironmentConfig", { variables: { HTTP_PROXY: "http://p:1", "a-b": "x" } }],
  ["NetworkDefaultActionConfig", { ingress: "block" }],
  [
    "NetworkRuleConfig",
    { name: "r", portSelector: { ports: [50000, "80-90"], protocol: "tcp" }, ingress: [{ subnet: "10.0.0.0/8" }] },
  ],
  ["KubeletConfig", { image: "ghcr.io/siderolabs/kubelet:v1.36.3", extraArgs: { v: "2" } }],
  ["KubeletConfig", { config: { port: 1 } }],
  ["KubeNodeConfig", { labels: { zone: "a" }, taints: { x: "NoSchedule" } }],
  ["KubeAPIServerConfig", { extraArgs: { "oidc-issuer-url": "https://a" } }],
  ["KubeControllerManagerConfig", { extraArgs: { v: "2" } }],
  ["KubeSchedulerConfig", { enabled: false }],
  ["KubeProxyConfig", { mode: "ipvs" }],
  ["KubeFlannelCNIConfig", { backendType: "vxlan" }],
  ["KubeNetworkConfig", { podSubnets: ["10.9.0.0/16"], serviceSubnets: ["10.8.0.0/16"] }],
  ["KubeClusterConfig", { clusterName: "b", endpoint: "https://b:6443" }],
  ["KubePrismConfig", { port: 7446 }],
  ["KubeTalosAPIAccessConfig", { allowedRoles: ["os:reader"] }],
  ["KubeAdmissionControlConfig", { name: "PodSecurity", configuration: { a: 1 } }],
  ["DiscoveryServiceConfig", { name: "second", endpoint: "https://d.example.org" }],
  ["SecurityProfileConfig", { workloadIsolation: false }],
  ["FilesystemTrimConfig", { interval: "1h0m0s" }],
  ["UnattendedInstallConfig", { provisioning: { diskSelector: { match: "system_disk" } } }],
  ["SysctlConfig", { params: { "vm.max": "1" } }],
  ["ImageCacheConfig", { localEnabled: true }],
  ["ContainerConfig", { name: "c", image: "a.io/b:1", dependsOn: { containers: ["d"] } }],
];

const deletions: readonly string[] = [
  "machine: {install: {$patch: delete}}",
  "machine: {kubelet: {$patch: delete}}",
  "machine: {ca: {$patch: delete}}",
  "machine: {sysctls: {a: {$patch: delete}}}",
  "machine: {features: {kubePrism: {$patch: delete}}}",
  "machine: {features: {hostDNS: {$patch: delete}}}",
  "cluster: {$patch: delete}",
  "cluster: {controlPlane: {$patch: delete}}",
  "cluster: {discovery: {$patch: delete}}",
  "cluster: {network: {podSubnets: {$patch: delete}}}",
  "cluster: {apiServer: {admissionControl: [{name: PodSecurity, $patch: delete}]}}",
  "machine: {network: {interfaces: [{interface: eth0, $patch: delete}]}}",
  ...["HostnameConfig", "KubeletConfig", "KubeNodeConfig", "KubeClusterConfig", "DiscoveryIdentityConfig"].map(
    (kind) => `apiVersion: v1alpha1\nkind: ${kind}\n$patch: delete\n`,
  ),
  "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n$patch: delete\n",
  "apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {$patch: delete}\n",
];

const mistakes: readonly string[] = [
  "machine: {bogus: 1}",
  "machine: {kubelet: {extraArgs: [a]}}",
  "machine: {sysctls: [a], certSANs: {a: b}}",
  "machine: {network: {interfaces: [null]}}",
  "machine: {certSANs: [null, a]}",
  "cluster: {apiServer: {admissionControl: [null]}}",
  "apiVersion: v1alpha1\nkind: BogusConfig\n",
  "kind: HostnameConfig\nhostname: a\n",
  "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: x\n",
  "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 9000\n",
  "machine: {nodeLabels: {a: b}}\n---\nmachine: {nodeLabels: {c: d}}\n",
];

const operations: readonly string[] = [
  JSON.stringify([{ op: "add", path: "/machine/sysctls", value: { a: "1" } }]),
  JSON.stringify([{ op: "remove", path: "/machine/install" }]),
  JSON.stringify([{ op: "replace", path: "/cluster/nope", value: 1 }]),
  JSON.stringify([{ op: "replace", path: "/machine/type", value: "worker" }]),
];
