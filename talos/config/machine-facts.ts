// SPDX-License-Identifier: Apache-2.0
import { configDefaults } from "../config-defaults.ts";
import { TalosError } from "../errors.ts";
import { fromBase64 } from "../pki/index.ts";
import type { MachineType } from "./cluster-config.ts";
import { type ConfigDocument, parseConfig } from "./document/config-file.ts";
import { type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "./document/value.ts";
import type { MachineConfig } from "./machine-config.ts";

/** What a machine must know from its own config, whichever contract it was written for. Certificates are PEM texts. */
export interface MachineFacts {
  readonly type: MachineType;
  readonly token: string;
  readonly osCa: Authority;
  readonly certSans: readonly string[];
  /** Absent when the machine names itself. */
  readonly hostname?: string | undefined;
  /** The config says that it does. */
  readonly namesItself: boolean;
  readonly clusterName: string;
  readonly clusterId: string;
  /** URL of the Kubernetes API. */
  readonly endpoint: string;
  readonly kubernetesCa: Authority;
  /** Control planes only. */
  readonly etcdCa?: Authority | undefined;
  readonly bootstrapToken: string;
  readonly kubeletImage: string;
  /** From the kubelet's image, without `v`. */
  readonly kubernetesVersion: string;
  readonly installImage?: string | undefined;
  readonly installDisk?: string | undefined;
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
  return factsOf(parseConfig(text, fileName));
}

/** The same of a config that may have been read already. */
export function machineFacts(config: MachineConfig): MachineFacts {
  return factsOf(config.decode());
}

/** Who a machine is and what it is installed from. */
export type InstallFacts = Pick<MachineFacts, "hostname" | "namesItself" | "installImage" | "installDisk">;

/** These alone, for those who look at a hundred configs; a config that cannot be used is found all the same. */
export function installFactsOf(documents: readonly ConfigDocument[]): InstallFacts {
  const view = new ConfigView(documents);
  checkUsable(view);
  return installFacts(view);
}

function installFacts(view: ConfigView): InstallFacts {
  const hostname = view.text("machine.network.hostname") ?? view.text("HostnameConfig:hostname");
  return {
    hostname,
    namesItself: hostname === undefined && saysAuto(view),
    installImage: view.text("machine.install.image") ?? view.text("UnattendedInstallConfig:installer.image"),
    installDisk: view.text("machine.install.disk") ?? unattendedDisk(view),
  };
}

/** What a Talos machine cannot do without. */
function checkUsable(view: ConfigView) {
  const type = machineType(view);
  const endpoint = view.text("cluster.controlPlane.endpoint") ?? view.text("KubeClusterConfig:endpoint");
  if (endpoint === undefined) throw invalid("cluster controlplane endpoint is required");
  const osCertificate = view.text("machine.ca.crt");
  if (osCertificate === undefined) throw invalid("issuing CA is required (.machine.ca)");
  const osKey = view.text("machine.ca.key");
  if (type === "controlplane" && osKey === undefined) {
    throw invalid("issuing CA key is required for controlplane nodes (.machine.ca.key)");
  }
  return { type, endpoint, osCertificate, osKey };
}

function factsOf(documents: readonly ConfigDocument[]): MachineFacts {
  const view = new ConfigView(documents);
  const { type, endpoint, osCertificate, osKey } = checkUsable(view);
  const kubeletImage = view.text("machine.kubelet.image") ?? view.text("KubeletConfig:image") ?? "";
  return {
    type,
    token: view.text("machine.token") ?? "",
    osCa: authority(fromBase64(osCertificate), osKey === undefined ? undefined : fromBase64(osKey)),
    certSans: view.texts("machine.certSANs"),
    ...installFacts(view),
    clusterName: view.text("cluster.clusterName") ?? view.text("KubeClusterConfig:clusterName") ?? "",
    clusterId: view.text("cluster.id") ?? view.text("DiscoveryIdentityConfig:clusterID") ?? "",
    endpoint,
    kubernetesCa: kubernetesAuthority(view),
    etcdCa: pair(view, "cluster.etcd.ca"),
    bootstrapToken: view.text("cluster.token") ?? "",
    kubeletImage,
    kubernetesVersion: /:v?([^:@/]+)(?:@.*)?$/.exec(kubeletImage)?.[1] ?? "",
    dnsDomain:
      view.text("cluster.network.dnsDomain") ?? view.text("KubeNetworkConfig:dnsDomain") ?? configDefaults.dnsDomain,
    podSubnets: filled(view.texts("cluster.network.podSubnets"), view.texts("KubeNetworkConfig:podSubnets")),
    serviceSubnets: filled(
      view.texts("cluster.network.serviceSubnets"),
      view.texts("KubeNetworkConfig:serviceSubnets"),
    ),
    nodeLabels: { ...view.map("machine.nodeLabels"), ...view.map("KubeNodeConfig:labels") },
    nodeTaints: { ...view.map("machine.nodeTaints"), ...view.map("KubeNodeConfig:taints") },
    allowSchedulingOnControlPlanes: schedulesPods(view, type === "controlplane"),
    discovery: view.has("cluster.discovery")
      ? !view.isOff("cluster.discovery.enabled")
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
  if (view.isOn("cluster.allowSchedulingOnControlPlanes")) return true;
  const taints = view.map("KubeNodeConfig:taints");
  return view.hasDocument("KubeNodeConfig") && !("node-role.kubernetes.io/control-plane" in taints);
}

/** In a document of its own, or by a feature of releases before there was one. */
function saysAuto(view: ConfigView): boolean {
  const auto = view.text("HostnameConfig:auto");
  return auto === undefined ? view.isOn("machine.features.stableHostname") : auto !== "off";
}

function unattendedDisk(view: ConfigView): string | undefined {
  const match = view.text("UnattendedInstallConfig:provisioning.diskSelector.match") ?? "";
  return /^disk\.dev_path == "([^"]+)"$/.exec(match)?.[1];
}

function virtualIps(view: ConfigView): readonly string[] {
  const interfaces = view.sections("machine.network.interfaces");
  const legacy = interfaces
    .flatMap((link) => [link, ...sectionsAt(link, "vlans")])
    .map((link) => textAt(link, "vip.ip"));
  return [...legacy.filter((address) => address !== ""), ...view.names("Layer2VIPConfig")];
}

function filled(first: readonly string[], second: readonly string[]): readonly string[] {
  return first.length > 0 ? first : second;
}

function invalid(message: string): TalosError {
  return new TalosError("invalid-input", message);
}

/** Looks values up by path: `machine.ca.crt` in the v1alpha1 document, `Kind:field.field` in another one. */
export class ConfigView {
  readonly #documents: readonly ConfigDocument[];

  constructor(documents: readonly ConfigDocument[]) {
    this.#documents = documents;
  }

  #find<Found>(path: string, look: (section: Section, path: string) => Found | undefined): Found | undefined {
    const [kind, fields] = path.includes(":") ? path.split(":", 2) : ["v1alpha1", path];
    for (const document of this.#documents) {
      const found = document.kind === kind ? look(document.section, fields ?? "") : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  has(path: string): boolean {
    return this.#find(path, sectionAt) !== undefined;
  }

  hasDocument(kind: string): boolean {
    return this.#documents.some((document) => document.kind === kind);
  }

  names(kind: string): readonly string[] {
    const documents = this.#documents.filter((document) => document.kind === kind);
    return documents.map(({ section }) => textAt(section, "name")).filter((name) => name !== "");
  }

  isOn(path: string): boolean {
    return this.#find(path, valueAt) === true;
  }

  isOff(path: string): boolean {
    return this.#find(path, valueAt) === false;
  }

  /** Undefined when absent or empty. */
  text(path: string): string | undefined {
    return this.#find(path, (section, fields) => textAt(section, fields) || undefined);
  }

  texts(path: string): readonly string[] {
    return (
      this.#find(path, (section, fields) => (valueAt(section, fields) ? textsAt(section, fields) : undefined)) ?? []
    );
  }

  sections(path: string): readonly Section[] {
    return this.#find(path, (section, fields) => sectionsAt(section, fields)) ?? [];
  }

  map(path: string): Readonly<Record<string, string>> {
    const section = this.#find(path, sectionAt) ?? new Map();
    return Object.fromEntries([...section].map(([key, value]) => [key, String(value)]));
  }
}
