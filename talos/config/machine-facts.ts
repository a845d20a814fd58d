// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import type { YamlNode } from "../yaml.ts";
import { parseYaml } from "../yaml.ts";
import type { MachineType } from "./cluster-config.ts";
import { parseConfig } from "./document/config-file.ts";

/** What a machine must know from its own config, whichever contract it was written for. Certificates are PEM texts. */
export interface MachineFacts {
  readonly type: MachineType;
  readonly token: string;
  readonly osCa: Authority;
  readonly certSans: readonly string[];
  /** Absent when the machine names itself. */
  readonly hostname?: string;
  readonly clusterName: string;
  readonly clusterId: string;
  /** URL of the Kubernetes API. */
  readonly endpoint: string;
  readonly kubernetesCa: Authority;
  /** Control planes only. */
  readonly etcdCa?: Authority;
  readonly bootstrapToken: string;
  readonly kubeletImage: string;
  /** From the kubelet's image, without `v`. */
  readonly kubernetesVersion: string;
  readonly installImage?: string;
  readonly installDisk?: string;
  readonly dnsDomain: string;
  readonly podSubnets: readonly string[];
  readonly serviceSubnets: readonly string[];
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly nodeTaints: Readonly<Record<string, string>>;
  readonly allowSchedulingOnControlPlanes: boolean;
  readonly discovery: boolean;
  /** Shared addresses that this machine takes part in. */
  readonly virtualIps: readonly string[];
}

export interface Authority {
  readonly certificate: string;
  /** Absent on workers. */
  readonly key?: string;
}

/** Reads the facts. Throws `invalid-input`, in the words of a Talos machine, when the config cannot be used. */
export function readMachineFacts(text: string, fileName = "config"): MachineFacts {
  // Strict first: a machine refuses what it does not know.
  parseConfig(text, fileName);
  const view = new ConfigView(parseYaml(text, fileName));
  const type = machineType(view);
  const controlPlane = type === "controlplane";
  const endpoint = view.text("cluster.controlPlane.endpoint") ?? view.text("KubeClusterConfig:endpoint");
  if (endpoint === undefined) throw invalid("cluster controlplane endpoint is required");
  const osCertificate = view.text("machine.ca.crt");
  if (osCertificate === undefined) throw invalid("issuing CA is required (.machine.ca)");
  const osKey = view.text("machine.ca.key");
  if (controlPlane && osKey === undefined) {
    throw invalid("issuing CA key is required for controlplane nodes (.machine.ca.key)");
  }
  const kubeletImage = view.text("machine.kubelet.image") ?? view.text("KubeletConfig:image") ?? "";
  const hostname = view.text("machine.network.hostname") ?? view.text("HostnameConfig:hostname");
  const installImage = view.text("machine.install.image") ?? view.text("UnattendedInstallConfig:installer.image");
  const installDisk = view.text("machine.install.disk") ?? unattendedDisk(view);
  const etcd = pair(view, "cluster.etcd.ca");
  return {
    type,
    token: view.text("machine.token") ?? "",
    osCa: authority(fromBase64(osCertificate), osKey === undefined ? undefined : fromBase64(osKey)),
    certSans: view.texts("machine.certSANs"),
    ...(hostname === undefined ? {} : { hostname }),
    clusterName: view.text("cluster.clusterName") ?? view.text("KubeClusterConfig:clusterName") ?? "",
    clusterId: view.text("cluster.id") ?? view.text("DiscoveryIdentityConfig:clusterID") ?? "",
    endpoint,
    kubernetesCa: kubernetesAuthority(view),
    ...(etcd === undefined ? {} : { etcdCa: etcd }),
    bootstrapToken: view.text("cluster.token") ?? "",
    kubeletImage,
    kubernetesVersion: /:v?([^:@/]+)(?:@.*)?$/.exec(kubeletImage)?.[1] ?? "",
    ...(installImage === undefined ? {} : { installImage }),
    ...(installDisk === undefined ? {} : { installDisk }),
    dnsDomain: view.text("cluster.network.dnsDomain") ?? view.text("KubeNetworkConfig:dnsDomain") ?? "cluster.local",
    podSubnets: filled(view.texts("cluster.network.podSubnets"), view.texts("KubeNetworkConfig:podSubnets")),
    serviceSubnets: filled(
      view.texts("cluster.network.serviceSubnets"),
      view.texts("KubeNetworkConfig:serviceSubnets"),
    ),
    nodeLabels: { ...view.map("machine.nodeLabels"), ...view.map("KubeNodeConfig:labels") },
    nodeTaints: { ...view.map("machine.nodeTaints"), ...view.map("KubeNodeConfig:taints") },
    allowSchedulingOnControlPlanes: schedulesPods(view, controlPlane),
    discovery: view.has("cluster.discovery")
      ? view.text("cluster.discovery.enabled") !== "false"
      : view.hasDocument("DiscoveryServiceConfig"),
    virtualIps: virtualIps(view),
  };
}

function machineType(view: ConfigView): MachineType {
  if (!view.has("machine")) throw invalid("machine instructions are required");
  if (!view.has("cluster")) throw invalid("cluster instructions are required");
  const type = view.text("machine.type") ?? "";
  if (type === "controlplane" || type === "init") return "controlplane";
  if (type === "worker" || type === "join") return "worker";
  throw invalid(`unknown machine type ${JSON.stringify(type)}`);
}

function kubernetesAuthority(view: ConfigView): Authority {
  const legacy = pair(view, "cluster.ca");
  if (legacy !== undefined) return legacy;
  const certificate =
    view.text("KubeAPIServerCAConfig:issuingCA.cert") ?? view.texts("KubeAPIServerCAConfig:acceptedCAs")[0] ?? "";
  return authority(certificate, view.text("KubeAPIServerCAConfig:issuingCA.key"));
}

function pair(view: ConfigView, path: string): Authority | undefined {
  const certificate = view.text(`${path}.crt`);
  if (certificate === undefined) return undefined;
  const key = view.text(`${path}.key`);
  return authority(fromBase64(certificate), key === undefined ? undefined : fromBase64(key));
}

function authority(certificate: string, key: string | undefined): Authority {
  return key === undefined ? { certificate } : { certificate, key };
}

/** Contract 1.14 says it by a taint; before, there is a switch. */
function schedulesPods(view: ConfigView, controlPlane: boolean): boolean {
  if (!controlPlane) return true;
  if (view.text("cluster.allowSchedulingOnControlPlanes") === "true") return true;
  const taints = view.map("KubeNodeConfig:taints");
  return view.hasDocument("KubeNodeConfig") && !("node-role.kubernetes.io/control-plane" in taints);
}

function unattendedDisk(view: ConfigView): string | undefined {
  const match = view.text("UnattendedInstallConfig:provisioning.diskSelector.match") ?? "";
  return /^disk\.dev_path == "([^"]+)"$/.exec(match)?.[1];
}

function virtualIps(view: ConfigView): readonly string[] {
  const interfaces = view.node("machine.network.interfaces");
  const legacy = interfaces?.kind === "sequence" ? interfaces.items : [];
  const nested = legacy.flatMap((item) => {
    const vlans = at(item, ["vlans"]);
    return vlans?.kind === "sequence" ? [item, ...vlans.items] : [item];
  });
  return [...nested.map((item) => scalarText(at(item, ["vip", "ip"]))), ...view.names("Layer2VIPConfig")].filter(
    (address) => address !== undefined,
  );
}

function filled(first: readonly string[], second: readonly string[]): readonly string[] {
  return first.length > 0 ? first : second;
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}

function invalid(message: string): TalosError {
  return new TalosError("invalid-input", message);
}

/** Looks values up by path: `machine.ca.crt` in the v1alpha1 document, `Kind:field.field` in another one. */
class ConfigView {
  readonly #documents: readonly YamlNode[];

  constructor(documents: readonly YamlNode[]) {
    this.#documents = documents;
    if (!documents.some((document) => document.kind === "mapping")) throw invalid("config not found");
  }

  node(path: string): YamlNode | undefined {
    const [kind, fields] = path.includes(":") ? path.split(":", 2) : [undefined, path];
    const steps = (fields ?? "").split(".");
    for (const document of this.#documents) {
      if (scalarText(at(document, ["kind"])) !== kind) continue;
      const found = at(document, steps);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  has(path: string): boolean {
    return this.node(path)?.kind === "mapping";
  }

  hasDocument(kind: string): boolean {
    return this.#documents.some((document) => scalarText(at(document, ["kind"])) === kind);
  }

  names(kind: string): readonly string[] {
    const documents = this.#documents.filter((document) => scalarText(at(document, ["kind"])) === kind);
    return documents.map((document) => scalarText(at(document, ["name"]))).filter((name) => name !== undefined);
  }

  /** Undefined when absent or empty. */
  text(path: string): string | undefined {
    return scalarText(this.node(path));
  }

  texts(path: string): readonly string[] {
    const node = this.node(path);
    if (node?.kind !== "sequence") return [];
    return node.items.map(scalarText).filter((text) => text !== undefined);
  }

  map(path: string): Readonly<Record<string, string>> {
    const node = this.node(path);
    if (node?.kind !== "mapping") return {};
    return Object.fromEntries(node.entries.map((entry) => [entry.key.text, scalarText(entry.value) ?? ""]));
  }
}

function at(node: YamlNode, steps: readonly string[]): YamlNode | undefined {
  let current: YamlNode | undefined = node;
  for (const step of steps) {
    if (current?.kind !== "mapping") return undefined;
    current = current.entries.find((entry) => entry.key.text === step)?.value;
  }
  return current;
}

function scalarText(node: YamlNode | undefined): string | undefined {
  return node?.kind === "scalar" && node.text !== "" && node.text !== "null" ? node.text : undefined;
}
