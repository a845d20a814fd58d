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
import { movedInterfaces } from "./moved-interfaces.ts";
import { findDocument, type PlacedSetting, putSetting, takeSetting } from "./placed-setting.ts";
import { kindType } from "./schema/schema.ts";

/** A setting that a newer contract keeps in a document of its own. */
export interface MovedSetting {
  /** Its path in the v1alpha1 document. */
  readonly from: string;
  /** The kind of the document that has it now, and the minor release of Talos that brought that kind. */
  readonly to: string;
  readonly since: number;
  /** Where it stands now: documents by kind and name, and paths in them. */
  readonly places: readonly { readonly document: string; readonly path: string }[];
}

interface Move {
  readonly from: readonly string[];
  /** Where the settings stand in the newer form; undefined when it has no place for what they say. */
  readonly place: (v1alpha1: Section, after: readonly ConfigDocument[]) => readonly PlacedSetting[] | undefined;
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
    findDocument(after, { kind: "KubeClusterConfig" }) !== undefined &&
    findDocument(before, { kind: "KubeClusterConfig" }) === undefined;
  const wanted = (one: PlacedSetting): boolean => findDocument(after, one) !== undefined;
  const taken = (one: PlacedSetting): boolean => valueAt(findDocument(before, one)?.section, one.path) !== undefined;
  const moved: MovedSetting[] = [];
  for (const { from, place } of moves) {
    const set = from.filter((path) => valueAt(old, path) !== undefined);
    if (set.length === 0 || from.some((path) => valueAt(target, path) !== undefined)) continue;
    const places = place(whole, after);
    if (places === undefined || (places.length === 0 && !becomesSplit)) continue;
    if (!places.every((one) => wanted(one) && !taken(one))) continue;
    for (const one of places) putSetting(documents, one);
    for (const path of set) {
      takeSetting(old, path);
      const [first] = places;
      if (first !== undefined)
        moved.push({ from: path, to: first.kind, since: sinceOf(first.kind), places: places.map(placeOf) });
    }
  }
  if (becomesSplit) for (const one of builtIn(whole).filter(wanted)) putSetting(documents, one);
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
  // Volumes and mounts of Kubernetes' own parts (extraVolumes, extraMounts) have no place in the newer form: they are lost.
  ...["state", "ephemeral"].map(volumeEncryption),
  value("machine.features.imageCache.localEnabled", "ImageCacheConfig", "local.enabled"),
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
  { from: ["machine.network.interfaces"], place: movedInterfaces },
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

function admissionPlugins(config: Section): readonly PlacedSetting[] {
  return sectionsAt(config, "cluster.apiServer.admissionControl").map((plugin) => ({
    kind: "KubeAdmissionControlConfig",
    name: textAt(plugin, "name"),
    path: "configuration",
    value: plugin.get("configuration") ?? new Map(),
  }));
}

function registryMirrors(config: Section): readonly PlacedSetting[] | undefined {
  const mirrors = [...(sectionAt(config, "machine.registries.mirrors") ?? [])];
  const known = ["endpoints", "skipFallback"];
  if (mirrors.some(([, mirror]) => isSection(mirror) && [...mirror.keys()].some((key) => !known.includes(key))))
    return undefined;
  return mirrors.flatMap(([name, found]) => {
    const mirror = isSection(found) ? found : undefined;
    const place = { kind: "RegistryMirrorConfig", name };
    const endpoints: Value[] = textsAt(mirror, "endpoints").map((url) => new Map([["url", url]]));
    const skip = valueAt(mirror, "skipFallback");
    const moved = { ...place, path: "endpoints", value: endpoints };
    return skip === undefined ? [moved] : [moved, { ...place, path: "skipFallback", value: skip }];
  });
}

function volumeEncryption(volume: string): Move {
  const from = `machine.systemDiskEncryption.${volume}`;
  return {
    from: [from],
    place: (config) => {
      const found = valueAt(config, from);
      if (found === undefined) return undefined;
      return [{ kind: "VolumeConfig", name: volume.toUpperCase(), path: "encryption", value: found }];
    },
  };
}

function podNetwork(config: Section): readonly PlacedSetting[] | undefined {
  if (valueAt(config, "cluster.network.cni.flannel") !== undefined) return undefined;
  return textsAt(config, "cluster.network.cni.urls").map((url, index) => ({
    kind: "KubeExternalManifestConfig",
    name: index === 0 ? "custom-cni" : `custom-cni-${index + 1}`,
    path: "url",
    value: url,
  }));
}

function discovery(config: Section): readonly PlacedSetting[] | undefined {
  const registries = "cluster.discovery.registries";
  if (valueAt(config, "cluster.discovery.enabled") !== true) return [];
  // The registry in Kubernetes is not in the newer form: whoever used it loses it.
  if (valueAt(config, `${registries}.kubernetes.disabled`) !== true) return undefined;
  if (valueAt(config, `${registries}.service.disabled`) === true) return [];
  const endpoint = textAt(config, `${registries}.service.endpoint`) || "https://discovery.talos.dev/";
  return [{ kind: "DiscoveryServiceConfig", name: "default", path: "endpoint", value: endpoint }];
}

function kubePrism(config: Section): readonly PlacedSetting[] | undefined {
  if (valueAt(config, "machine.features.kubePrism.enabled") !== true) return undefined;
  const port = valueAt(config, "machine.features.kubePrism.port") ?? 7445;
  return [{ kind: "KubePrismConfig", path: "port", value: port }];
}

function hostname(config: Section): readonly PlacedSetting[] {
  return [
    { kind: "HostnameConfig", path: "hostname", value: textAt(config, "machine.network.hostname") },
    { kind: "HostnameConfig", path: "auto", value: "off" },
  ];
}

/** Workers have no key: to them the CA is one of those that they accept. */
function kubernetesCa(config: Section): readonly PlacedSetting[] | undefined {
  const kind = "KubeAPIServerCAConfig";
  const ca = valueAt(config, "cluster.ca");
  const others = valueAt(config, "cluster.acceptedCAs");
  const accepted = (Array.isArray(others) ? others : []).map((one) =>
    pem(textAt(isSection(one) ? one : undefined, "crt")),
  );
  if (!isSection(ca)) return undefined;
  if (textAt(ca, "key") === "") return [{ kind, path: "acceptedCAs", value: [pem(textAt(ca, "crt")), ...accepted] }];
  const issuing = { kind, path: "issuingCA", value: pemPair(ca) };
  return accepted.length === 0 ? [issuing] : [issuing, { kind, path: "acceptedCAs", value: accepted }];
}

/** The names of the keys are those that Talos gives them in either form. */
function encryption(config: Section): readonly PlacedSetting[] {
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
function builtIn(config: Section): readonly PlacedSetting[] {
  const controlPlane = textAt(config, "machine.type") === "controlplane";
  const node = "KubeNodeConfig";
  const settings: PlacedSetting[] = [{ kind: node, path: "nodeIP", value: new Map() }];
  if (!controlPlane) return settings;
  const spared = valueAt(config, "cluster.allowSchedulingOnControlPlanes") !== true;
  const cni = textAt(config, "cluster.network.cni.name");
  const flannel = "KubeFlannelCNIConfig";
  const withRole = (path: string, text: string): Section =>
    new Map([[controlPlaneRole, text], ...(sectionAt(config, path) ?? [])]);
  settings.push({ kind: node, path: "labels", value: withRole("machine.nodeLabels", "") });
  if (spared) settings.push({ kind: node, path: "taints", value: withRole("machine.nodeTaints", "NoSchedule") });
  const issuer = textAt(config, "cluster.controlPlane.endpoint");
  settings.push({ kind: "KubeServiceAccountConfig", path: "issuer.issuerURL", value: issuer });
  if (valueAt(config, "cluster.apiServer.authorizationConfig") === undefined)
    settings.push(
      { kind: "KubeAuthorizerConfig", name: "node", path: "type", value: "Node" },
      { kind: "KubeAuthorizerConfig", name: "rbac", path: "type", value: "RBAC" },
    );
  if (cni === "" || cni === "flannel")
    settings.push(
      { kind: flannel, path: "backendType", value: "vxlan" },
      { kind: flannel, path: "backendPort", value: 4789 },
    );
  if (valueAt(config, "cluster.coreDNS.disabled") !== true)
    settings.push({ kind: "KubeCoreDNSConfig", path: "enabled", value: true });
  return settings;
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

function placeOf({ kind, name, path }: PlacedSetting): MovedSetting["places"][number] {
  return { document: name === undefined ? kind : `${kind}/${name}`, path };
}

function sinceOf(kind: string): number {
  return kindType(kind)?.since ?? 0;
}

function isLegacy({ kind }: ConfigDocument): boolean {
  return kind === "v1alpha1";
}
