// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { parseAllDocuments } from "yaml";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { isTree, type Tree, tree } from "./world.ts";

/** A CA as a config carries it; only control planes have the key. */
export interface Authority {
  readonly certificate: string;
  readonly key?: string | undefined;
}

/** What a machine reads out of its own config. */
export type NodeConfig = ReturnType<typeof parse>;

/** What the kubelet of a control plane runs from manifests. */
export const staticPodNames = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
export type StaticPodName = (typeof staticPodNames)[number];

/** What a control plane runs, by component; of these a worker has the kubelet. */
export function componentImages({ images }: NodeConfig): Readonly<Record<StaticPodName | "kubelet", string>> {
  return {
    kubelet: images.kubelet,
    "kube-apiserver": images.apiServer,
    "kube-controller-manager": images.controllerManager,
    "kube-scheduler": images.scheduler,
  };
}

/** What a static pod is made of besides its image, by component; another value replaces the pod. */
export function componentSettings({ podSettings }: NodeConfig): Readonly<Record<StaticPodName, string>> {
  return {
    "kube-apiserver": podSettings.apiServer,
    "kube-controller-manager": podSettings.controllerManager,
    "kube-scheduler": podSettings.scheduler,
  };
}

/** Whose clients the Talos API lets in: the CA that issues first. */
export function osCas({ osCa, acceptedOsCas }: NodeConfig): readonly string[] {
  return [osCa.certificate, ...acceptedOsCas];
}

/** The same for Kubernetes. */
export function kubernetesCas({ kubernetesCa, acceptedKubernetesCas }: NodeConfig): readonly string[] {
  return [kubernetesCa.certificate, ...acceptedKubernetesCas];
}

/** The address with this number in the service network: the API server has the first by convention, DNS the tenth. */
export function serviceIp(subnet: string | undefined, number: number): string {
  return (subnet ?? "10.96.0.0/12").replace(/\.\d+\/\d+$/, `.${number}`);
}

const cache = new Map<string, NodeConfig>();

/** Reads a config that was accepted; the same text is parsed once. Throws `invalid-input` on text that no machine takes. */
export function readNodeConfig(text: string): NodeConfig {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const config = parse(text);
  // Bounded: a long-lived daemon sees many configs, but only a few at a time.
  if (cache.size >= 4_096) cache.clear();
  cache.set(text, config);
  return config;
}

/** True for documents without the main one: nothing that a machine could run with. */
export function isPartial(text: string): boolean {
  const documents = readDocuments(text);
  return documents.length > 0 && mainDocument(documents) === undefined && documents.every((document) => document.kind);
}

/** The host name that documents alone give. */
export function partialHostname(text: string): string | undefined {
  return string(readDocuments(text).find((document) => document.kind === "HostnameConfig")?.hostname);
}

function mainDocument(documents: readonly Tree[]): Tree | undefined {
  return documents.find((document) => document.kind === undefined && (document.machine || document.cluster));
}

function parse(text: string) {
  const documents = parseDocuments(text);
  const root = mainDocument(documents);
  if (root === undefined) {
    throw new TalosError(
      "invalid-input",
      "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?",
    );
  }
  const of = (kind: string): Tree => documents.find((document) => document.kind === kind) ?? {};
  const machine = tree(root.machine);
  const cluster = tree(root.cluster);
  const network = tree(cluster.network);
  const kubeNetwork = of("KubeNetworkConfig");
  const kubeCluster = of("KubeClusterConfig");
  const kubeNode = of("KubeNodeConfig");
  const type: "controlplane" | "worker" = ["controlplane", "init"].includes(String(machine.type))
    ? "controlplane"
    : "worker";
  const osCa = authority(machine.ca);
  const kubernetesCa = kubernetesAuthority(cluster.ca, of("KubeAPIServerCAConfig"));
  const clusterId = string(cluster.id) ?? string(of("DiscoveryIdentityConfig").clusterID) ?? "";
  const install = tree(machine.install);
  const unattended = of("UnattendedInstallConfig");
  const endpoint = string(tree(cluster.controlPlane).endpoint) ?? string(kubeCluster.endpoint) ?? "";
  const etcdCa = tree(cluster.etcd).ca;
  const schedulingAllowed = cluster.allowSchedulingOnControlPlanes === true;
  const modern = documents.some((document) => document.kind === "KubeNodeConfig");
  return {
    type,
    token: string(machine.token) ?? "",
    osCa,
    /** Certificates of CAs whose clients are let in beside those of the own one. */
    acceptedOsCas: certificates(machine.acceptedCAs),
    certSans: strings(machine.certSANs),
    /** Absent: the platform's name is used. */
    hostname: string(tree(machine.network).hostname) ?? string(of("HostnameConfig").hostname),
    clusterName: string(cluster.clusterName) ?? string(kubeCluster.clusterName) ?? "",
    clusterId,
    endpoint,
    dnsDomain: string(network.dnsDomain) ?? string(kubeNetwork.dnsDomain) ?? "cluster.local",
    podSubnets: nonEmpty(strings(network.podSubnets), strings(kubeNetwork.podSubnets), ["10.244.0.0/16"]),
    serviceSubnets: nonEmpty(strings(network.serviceSubnets), strings(kubeNetwork.serviceSubnets), ["10.96.0.0/12"]),
    cniName:
      string(tree(network.cni).name) ?? (modern && of("KubeFlannelCNIConfig").kind === undefined ? "none" : "flannel"),
    kubernetesCa,
    acceptedKubernetesCas: isTree(cluster.ca)
      ? certificates(cluster.acceptedCAs)
      : strings(of("KubeAPIServerCAConfig").acceptedCAs).filter((pem) => pem !== kubernetesCa.certificate),
    /** Only control planes have one. */
    etcdCa: isTree(etcdCa) ? authority(etcdCa) : undefined,
    apiServerSans: nonEmpty(
      strings(tree(cluster.apiServer).certSANs),
      strings(of("KubeAPIServerConfig").certExtraSANs),
      [],
    ),
    /** How long an admin kubeconfig is good for, in milliseconds. */
    adminLifetime: duration(string(tree(cluster.adminKubeconfig).certLifetime) ?? "8760h"),
    images: given({
      kubelet: string(tree(machine.kubelet).image) ?? string(of("KubeletConfig").image) ?? "",
      apiServer: string(tree(cluster.apiServer).image) ?? string(of("KubeAPIServerConfig").image) ?? "",
      controllerManager:
        string(tree(cluster.controllerManager).image) ?? string(of("KubeControllerManagerConfig").image) ?? "",
      scheduler: string(tree(cluster.scheduler).image) ?? string(of("KubeSchedulerConfig").image) ?? "",
      proxy: string(tree(cluster.proxy).image) ?? string(of("KubeProxyConfig").image) ?? "",
      installer: string(install.image) ?? string(tree(unattended.installer).image),
    }),
    podSettings: {
      apiServer: settingsOf(cluster.apiServer, of("KubeAPIServerConfig")),
      controllerManager: settingsOf(cluster.controllerManager, of("KubeControllerManagerConfig")),
      scheduler: settingsOf(cluster.scheduler, of("KubeSchedulerConfig")),
    },
    installDisk: string(install.disk) ?? quotedText(tree(tree(unattended.provisioning).diskSelector).match),
    discovery: tree(cluster.discovery).enabled === true || of("DiscoveryServiceConfig").kind !== undefined,
    proxyEnabled: modern
      ? of("KubeProxyConfig").kind !== undefined && of("KubeProxyConfig").enabled !== false
      : tree(cluster.proxy).disabled !== true,
    coreDnsEnabled: tree(cluster.coreDNS).disabled !== true && of("KubeCoreDNSConfig").enabled !== false,
    allowSchedulingOnControlPlanes: schedulingAllowed,
    /** Kernel parameters that the config sets, by dotted name. */
    sysctls: stringMap(machine.sysctls),
    /** With which kubelets ask for their first certificate: `<id>.<secret>`. */
    bootstrapToken: string(cluster.token) ?? "",
    labels: { ...stringMap(machine.nodeLabels), ...stringMap(kubeNode.labels) },
    taints: taints(machine.nodeTaints, kubeNode.taints, type, modern || schedulingAllowed),
    /** Whether nodes wait for a cloud controller manager. */
    externalCloudProvider: tree(cluster.externalCloudProvider).enabled === true,
    /** Id that the kubelet registers the node with. */
    providerId: string(
      stringMap(tree(machine.kubelet).extraArgs)["provider-id"] ??
        stringMap(of("KubeletConfig").extraArgs)["provider-id"],
    ),
    /** Shared address of the control planes. */
    virtualIp: sharedAddress(machine, documents),
    /** Machines with the same key belong to the same cluster. */
    clusterKey: keyOf(clusterId || osCa.certificate),
  };
}

/** Certificates are exchanged without a new pod. */
function settingsOf(section: unknown, document: Tree): string {
  const { certSANs: _sans, ...old } = tree(section);
  const { certExtraSANs: _extra, ...modern } = document;
  return keyOf(JSON.stringify([old, modern]));
}

/** The key of the config's cluster in worlds that were kept when clusters were still told apart by their CAs. */
export function formerClusterKey(text: string): string {
  return keyOf(readNodeConfig(text).osCa.certificate);
}

function keyOf(identity: string): string {
  return createHash("sha256").update(identity).digest("hex").slice(0, 24);
}

function parseDocuments(text: string): Tree[] {
  return readDocuments(text, (fault) => {
    throw new TalosError("invalid-input", `yaml: ${fault.message}`, { cause: fault });
  });
}

/** Without those that can't be read, unless `refuse` throws: whoever checks the text says why. */
function readDocuments(text: string, refuse: (fault: Error) => void = () => {}): Tree[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [fault] = document.errors;
    if (fault !== undefined) refuse(fault);
    const value: unknown = fault === undefined ? document.toJS() : undefined;
    return isTree(value) ? [value] : [];
  });
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function stringMap(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(tree(value)).map(([key, item]) => [key, String(item ?? "")]));
}

function nonEmpty(...choices: readonly (readonly string[])[]): readonly string[] {
  return choices.find((choice) => choice.length > 0) ?? [];
}

/** v1alpha1 keeps PEM texts in base64. */
function authority(value: unknown): Authority {
  const decoded = (field: unknown): string =>
    typeof field === "string" ? Buffer.from(field, "base64").toString("utf8") : "";
  return { certificate: decoded(tree(value).crt), key: decoded(tree(value).key) || undefined };
}

/** A list of CAs without keys. */
function certificates(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((item) => authority(item).certificate) : [];
}

function kubernetesAuthority(legacy: unknown, document: Tree): Authority {
  if (isTree(legacy)) return authority(legacy);
  const issuing = tree(document.issuingCA);
  return { certificate: string(issuing.cert) ?? strings(document.acceptedCAs)[0] ?? "", key: string(issuing.key) };
}

function sharedAddress(machine: Tree, documents: readonly Tree[]): string | undefined {
  const layer2 = documents.find((document) => document.kind === "Layer2VIPConfig");
  if (layer2 !== undefined) return string(layer2.name);
  const interfaces = tree(machine.network).interfaces;
  for (const link of Array.isArray(interfaces) ? interfaces : []) {
    const address = string(tree(tree(link).vip).ip);
    if (address !== undefined) return address;
  }
  return undefined;
}

function taints(legacy: unknown, modern: unknown, type: string, complete: boolean) {
  const listed = Object.entries({ ...stringMap(legacy), ...stringMap(modern) }).map(([key, text]) => {
    const [value, effect] = text.includes(":") ? text.split(":", 2) : ["", text];
    return { key, value: value ?? "", effect: effect ?? "NoSchedule" };
  });
  if (type !== "controlplane" || complete) return listed;
  return [{ key: "node-role.kubernetes.io/control-plane", value: "", effect: "NoSchedule" }, ...listed];
}

/** The path inside `disk.dev_path == "/dev/sda"`. */
function quotedText(value: unknown): string | undefined {
  return typeof value === "string" ? /"([^"]+)"/.exec(value)?.[1] : undefined;
}

/** Go's notation, as far as configs use it: 8760h, 1h30m, 90s. */
function duration(text: string): number {
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000 };
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * (units[unit ?? "s"] ?? 0),
    0,
  );
}
