// SPDX-License-Identifier: Apache-2.0

import { type ConfigDocument, cloneConfig } from "./document/config-file.ts";
import {
  isSection,
  type Section,
  sectionAt,
  sectionsAt,
  textAt,
  textsAt,
  type Value,
  valueAt,
} from "./document/value.ts";
import { controlPlaneRole } from "./generate/common-values.ts";
import { kindType } from "./schema/schema.ts";

/** A setting that a newer contract keeps in a document of its own. */
export interface MovedSetting {
  /** Its path in the v1alpha1 document. */
  readonly from: string;
  /** The kind of the document that has it now, and the minor release of Talos that brought that kind. */
  readonly to: string;
  readonly since: number;
  /** Where it stands in that document. */
  readonly path: string;
}

interface Placed {
  readonly kind: string;
  readonly name?: string;
  readonly path: string;
  readonly value: Value;
}

interface Move {
  readonly from: readonly string[];
  /** Where the settings stand in the newer form; undefined when it has no place for what they say. */
  readonly place: (v1alpha1: Section) => readonly Placed[] | undefined;
}

/**
 * The first config in the form of the second one, as far as a difference is only one of place: what the second keeps in
 * documents of their own is taken there, and what older contracts do without saying it is written down.
 */
export function inFormOf(
  after: readonly ConfigDocument[],
  before: readonly ConfigDocument[],
): { readonly documents: readonly ConfigDocument[]; readonly moved: readonly MovedSetting[] } {
  const documents = cloneConfig(before);
  const [whole, old, target] = [before, documents, after].map((list) => list.find(isLegacy)?.section);
  if (whole === undefined || old === undefined || target === undefined) return { documents, moved: [] };
  const becomesSplit =
    find(after, "KubeClusterConfig") !== undefined && find(before, "KubeClusterConfig") === undefined;
  const wanted = ({ kind, name }: Placed): boolean => find(after, kind, name) !== undefined;
  const taken = ({ kind, name, path }: Placed): boolean =>
    valueAt(find(before, kind, name)?.section, path) !== undefined;
  const moved: MovedSetting[] = [];
  for (const { from, place } of moves) {
    const set = from.filter((path) => valueAt(old, path) !== undefined);
    if (set.length === 0 || from.some((path) => valueAt(target, path) !== undefined)) continue;
    const places = place(whole);
    if (places === undefined || (places.length === 0 && !becomesSplit)) continue;
    if (!places.every((one) => wanted(one) && !taken(one))) continue;
    for (const one of places) put(documents, one);
    for (const path of set) {
      take(old, path);
      const [first] = places;
      if (first !== undefined) moved.push({ from: path, to: first.kind, since: sinceOf(first.kind), path: first.path });
    }
  }
  if (becomesSplit) for (const one of builtIn(whole).filter(wanted)) put(documents, one);
  return { documents, moved };
}

function value(from: string, kind: string, path: string, as: (value: Value) => Value = (same) => same): Move {
  return {
    from: [from],
    place: (config) => {
      const found = valueAt(config, from);
      return found === undefined ? undefined : [{ kind, path, value: as(found) }];
    },
  };
}

/** Fields that keep their names. */
function values(from: string, kind: string, fields: readonly string[]): readonly Move[] {
  return fields.map((field) => value(`${from}.${field}`, kind, field));
}

const moves: readonly Move[] = [
  value("cluster.id", "DiscoveryIdentityConfig", "clusterID"),
  value("cluster.secret", "DiscoveryIdentityConfig", "clusterSecret"),
  { from: ["cluster.discovery"], place: discovery },
  value("machine.install.image", "UnattendedInstallConfig", "installer.image"),
  value(
    "machine.install.disk",
    "UnattendedInstallConfig",
    "provisioning.diskSelector.match",
    (disk) => `disk.dev_path == ${JSON.stringify(disk)}`,
  ),
  value("machine.install.wipe", "UnattendedInstallConfig", "provisioning.wipe"),
  value("machine.features.hostDNS", "ResolverConfig", "hostDNS"),
  { from: ["machine.features.kubePrism"], place: kubePrism },
  ...values("machine.network.kubespan", "KubeSpanConfig", [
    "enabled",
    "advertiseKubernetesNetworks",
    "allowDownPeerBypass",
    "harvestExtraEndpoints",
    "mtu",
    "filters",
  ]),
  { from: ["machine.network.hostname"], place: hostname },
  {
    from: ["machine.features.stableHostname"],
    place: (config) =>
      textAt(config, "machine.network.hostname") === ""
        ? [{ kind: "HostnameConfig", path: "auto", value: "stable" }]
        : undefined,
  },
  value("machine.network.nameservers", "ResolverConfig", "nameservers", (list) =>
    Array.isArray(list) ? list.map((address) => new Map([["address", address]])) : list,
  ),
  value("machine.network.searchDomains", "ResolverConfig", "searchDomains.domains"),
  { from: ["machine.registries.mirrors"], place: registryMirrors },
  value("machine.nodeLabels", "KubeNodeConfig", "labels"),
  value("machine.nodeAnnotations", "KubeNodeConfig", "annotations"),
  value("machine.nodeTaints", "KubeNodeConfig", "taints"),
  // The taint that it takes away is one of those that `builtIn` writes.
  {
    from: ["cluster.allowSchedulingOnControlPlanes"],
    place: () => [{ kind: "KubeNodeConfig", path: "nodeIP", value: new Map() }],
  },
  ...values("machine.kubelet", "KubeletConfig", [
    "image",
    "extraArgs",
    "clusterDNS",
    "defaultRuntimeSeccompProfileEnabled",
  ]),
  value("machine.kubelet.extraConfig", "KubeletConfig", "config"),
  ...values("machine.kubelet", "KubeNodeConfig", ["nodeIP", "skipNodeRegistration", "registerWithFQDN"]),
  value("cluster.clusterName", "KubeClusterConfig", "clusterName"),
  value("cluster.controlPlane.endpoint", "KubeClusterConfig", "endpoint"),
  ...values("cluster.network", "KubeNetworkConfig", ["dnsDomain", "podSubnets", "serviceSubnets"]),
  { from: ["cluster.network.cni"], place: podNetwork },
  { from: ["cluster.ca", "cluster.acceptedCAs"], place: kubernetesCa },
  value("cluster.aggregatorCA", "KubeAggregatorCAConfig", "issuingCA", pemPair),
  value("cluster.serviceAccount.key", "KubeServiceAccountConfig", "issuer.privateKey", pem),
  { from: ["cluster.secretboxEncryptionSecret", "cluster.aescbcEncryptionSecret"], place: encryption },
  ...values("cluster.apiServer", "KubeAPIServerConfig", ["image", "extraArgs", "env", "resources"]),
  value("cluster.apiServer.certSANs", "KubeAPIServerConfig", "certExtraSANs"),
  { from: ["cluster.apiServer.admissionControl"], place: admissionPlugins },
  value("cluster.apiServer.auditPolicy", "KubeAuditPolicyConfig", "configuration"),
  ...values("cluster.controllerManager", "KubeControllerManagerConfig", ["image", "extraArgs", "env", "resources"]),
  ...values("cluster.scheduler", "KubeSchedulerConfig", ["image", "extraArgs", "env", "resources", "config"]),
  ...values("cluster.proxy", "KubeProxyConfig", ["image", "mode", "extraArgs"]),
  value("cluster.proxy.disabled", "KubeProxyConfig", "enabled", (disabled) => disabled !== true),
  ...values("cluster.coreDNS", "KubeCoreDNSConfig", ["image"]),
  value("cluster.coreDNS.disabled", "KubeCoreDNSConfig", "enabled", (disabled) => disabled !== true),
];

function admissionPlugins(config: Section): readonly Placed[] {
  return sectionsAt(config, "cluster.apiServer.admissionControl").map((plugin) => ({
    kind: "KubeAdmissionControlConfig",
    name: textAt(plugin, "name"),
    path: "configuration",
    value: plugin.get("configuration") ?? new Map(),
  }));
}

function registryMirrors(config: Section): readonly Placed[] | undefined {
  const mirrors = [...(sectionAt(config, "machine.registries.mirrors") ?? [])];
  const more = mirrors.some(([, mirror]) => isSection(mirror) && [...mirror.keys()].some((key) => key !== "endpoints"));
  if (more) return undefined;
  return mirrors.map(([name, mirror]) => ({
    kind: "RegistryMirrorConfig",
    name,
    path: "endpoints",
    value: textsAt(isSection(mirror) ? mirror : undefined, "endpoints").map((url) => new Map([["url", url]])),
  }));
}

function podNetwork(config: Section): readonly Placed[] | undefined {
  if (valueAt(config, "cluster.network.cni.flannel") !== undefined) return undefined;
  return textsAt(config, "cluster.network.cni.urls").map((url, index) => ({
    kind: "KubeExternalManifestConfig",
    name: index === 0 ? "custom-cni" : `custom-cni-${index + 1}`,
    path: "url",
    value: url,
  }));
}

function discovery(config: Section): readonly Placed[] | undefined {
  const registries = "cluster.discovery.registries";
  if (valueAt(config, "cluster.discovery.enabled") !== true) return [];
  // The registry in Kubernetes is not in the newer form: whoever used it loses it.
  if (valueAt(config, `${registries}.kubernetes.disabled`) !== true) return undefined;
  if (valueAt(config, `${registries}.service.disabled`) === true) return [];
  const endpoint = textAt(config, `${registries}.service.endpoint`) || "https://discovery.talos.dev/";
  return [{ kind: "DiscoveryServiceConfig", name: "default", path: "endpoint", value: endpoint }];
}

function kubePrism(config: Section): readonly Placed[] | undefined {
  if (valueAt(config, "machine.features.kubePrism.enabled") !== true) return undefined;
  const port = valueAt(config, "machine.features.kubePrism.port") ?? 7445;
  return [{ kind: "KubePrismConfig", path: "port", value: port }];
}

function hostname(config: Section): readonly Placed[] {
  return [
    { kind: "HostnameConfig", path: "hostname", value: textAt(config, "machine.network.hostname") },
    { kind: "HostnameConfig", path: "auto", value: "off" },
  ];
}

/** Workers have no key: to them the CA is one of those that they accept. */
function kubernetesCa(config: Section): readonly Placed[] | undefined {
  const kind = "KubeAPIServerCAConfig";
  const ca = valueAt(config, "cluster.ca");
  const others = valueAt(config, "cluster.acceptedCAs");
  const accepted = (Array.isArray(others) ? others : []).map((one) =>
    pem(textAt(isSection(one) ? one : undefined, "crt")),
  );
  if (!isSection(ca)) return undefined;
  if (textAt(ca, "key") === "") return [{ kind, path: "acceptedCAs", value: [pem(textAt(ca, "crt")), ...accepted] }];
  return [
    { kind, path: "issuingCA", value: pemPair(ca) },
    ...(accepted.length === 0 ? [] : [{ kind, path: "acceptedCAs", value: accepted }]),
  ];
}

/** The names of the keys are those that Talos gives them in either form. */
function encryption(config: Section): readonly Placed[] {
  const provider = (kind: string, name: string): readonly Value[] => {
    const secret = textAt(config, `cluster.${kind}EncryptionSecret`);
    if (secret === "") return [];
    const keys: Value[] = [
      new Map([
        ["name", name],
        ["secret", secret],
      ]),
    ];
    return [new Map([[kind, new Map([["keys", keys]])]])];
  };
  const providers: Value[] = [...provider("secretbox", "key2"), ...provider("aescbc", "key1")];
  const resources: Value[] = [
    new Map<string, Value>([
      ["providers", providers],
      ["resources", ["secrets"]],
    ]),
  ];
  return [{ kind: "KubeEtcdEncryptionConfig", path: "config", value: new Map([["resources", resources]]) }];
}

/** What contracts up to 1.13 do without a word in the config, as 1.14 says it. */
function builtIn(config: Section): readonly Placed[] {
  const controlPlane = textAt(config, "machine.type") === "controlplane";
  const node = "KubeNodeConfig";
  const empty: Placed = { kind: node, path: "nodeIP", value: new Map() };
  if (!controlPlane) return [empty];
  const spared = valueAt(config, "cluster.allowSchedulingOnControlPlanes") !== true;
  const cni = textAt(config, "cluster.network.cni.name");
  const flannel = "KubeFlannelCNIConfig";
  const [labels, taints] = [valueAt(config, "machine.nodeLabels"), valueAt(config, "machine.nodeTaints")];
  const more = (own: Value | undefined, key: string, text: string): Section =>
    new Map([[key, text], ...(isSection(own) ? own : [])]);
  return [
    empty,
    { kind: node, path: "labels", value: more(labels, controlPlaneRole, "") },
    ...(spared ? [{ kind: node, path: "taints", value: more(taints, controlPlaneRole, "NoSchedule") }] : []),
    {
      kind: "KubeServiceAccountConfig",
      path: "issuer.issuerURL",
      value: textAt(config, "cluster.controlPlane.endpoint"),
    },
    ...(valueAt(config, "cluster.apiServer.authorizationConfig") === undefined
      ? [
          { kind: "KubeAuthorizerConfig", name: "node", path: "type", value: "Node" },
          { kind: "KubeAuthorizerConfig", name: "rbac", path: "type", value: "RBAC" },
        ]
      : []),
    ...(cni === "" || cni === "flannel"
      ? [
          { kind: flannel, path: "backendType", value: "vxlan" },
          { kind: flannel, path: "backendPort", value: 4789 },
        ]
      : []),
    ...(valueAt(config, "cluster.coreDNS.disabled") === true
      ? []
      : [{ kind: "KubeCoreDNSConfig", path: "enabled", value: true }]),
  ];
}

function pem(value: Value): Value {
  return typeof value === "string" ? Buffer.from(value, "base64").toString() : value;
}

function pemPair(value: Value): Value {
  if (!isSection(value)) return value;
  return new Map([
    ["cert", pem(textAt(value, "crt"))],
    ["key", pem(textAt(value, "key"))],
  ]);
}

function sinceOf(kind: string): number {
  return kindType(kind)?.since ?? 0;
}

function isLegacy({ kind }: ConfigDocument): boolean {
  return kind === "v1alpha1";
}

function find(documents: readonly ConfigDocument[], kind: string, name?: string): ConfigDocument | undefined {
  return documents.find(
    (document) => document.kind === kind && (name === undefined || textAt(document.section, "name") === name),
  );
}

function put(documents: ConfigDocument[], { kind, name, path, value: placed }: Placed): void {
  const type = kindType(kind);
  if (type === undefined) return;
  const known = find(documents, kind, name);
  const head: readonly (readonly [string, Value])[] = [
    ["apiVersion", "v1alpha1"],
    ["kind", kind],
    ...(name === undefined ? [] : [["name", name] as const]),
  ];
  const document = known ?? { kind, apiVersion: "v1alpha1", section: new Map(head), struct: type.struct };
  if (known === undefined) documents.push(document);
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  let section: Section = document.section;
  for (const key of keys) {
    const inner = section.get(key);
    const next: Section = isSection(inner) ? inner : new Map();
    section.set(key, next);
    section = next;
  }
  section.set(last, placed);
}

/** Sections that are left empty go too: they said nothing else. */
function take(section: Section, path: string): void {
  const [key = "", ...rest] = path.split(".");
  const inner = section.get(key);
  if (rest.length === 0) section.delete(key);
  else if (isSection(inner)) {
    take(inner, rest.join("."));
    if (inner.size === 0) section.delete(key);
  }
}
