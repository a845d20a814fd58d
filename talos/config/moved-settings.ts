// SPDX-License-Identifier: Apache-2.0
import { given } from "../given.ts";
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
import { deviceExpression, isExpressible, selectorExpression } from "./expressions.ts";
import { controlPlaneRole } from "./generate/common-values.ts";
import { movedInterfaces } from "./moved-interfaces.ts";
import { type Form, type MovedValue, movedValues } from "./moved-values.ts";
import { findDocument, type PlacedSetting, putSetting, takeSetting } from "./placed-setting.ts";
import { proxySetting } from "./proxy-settings.ts";
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
  if (becomesSplit) for (const one of builtIn(whole)) putSetting(documents, one);
  return { documents, moved };
}

const moves: readonly Move[] = [
  { from: ["cluster.discovery"], place: discovery },
  // Volumes and mounts of Kubernetes' own parts (extraVolumes, extraMounts) have no place in the newer form: they are lost.
  { from: ["machine.install.diskSelector", "machine.install.disk"], place: installDisk },
  { from: ["machine.features.kubePrism"], place: kubePrism },
  { from: ["machine.network.interfaces"], place: movedInterfaces },
  { from: ["machine.network.hostname"], place: hostname },
  {
    from: ["machine.features.stableHostname"],
    place: (config) =>
      textAt(config, "machine.network.hostname") === ""
        ? [{ kind: "HostnameConfig", path: "auto", value: "stable" }]
        : undefined,
  },
  { from: ["machine.network.extraHostEntries"], place: staticHosts },
  { from: ["machine.registries.mirrors"], place: registryMirrors },
  { from: ["machine.registries.config"], place: registryAccess },
  // The taint that it takes away is one of those that `builtIn` writes.
  { from: ["cluster.allowSchedulingOnControlPlanes"], place: (config) => [nodeAddress(config)] },
  { from: ["cluster.network.cni"], place: podNetwork },
  { from: ["cluster.ca", "cluster.acceptedCAs"], place: kubernetesCa },
  { from: ["cluster.secretboxEncryptionSecret", "cluster.aescbcEncryptionSecret"], place: encryption },
  { from: ["cluster.apiServer.admissionControl"], place: admissionPlugins },
  { from: ["cluster.apiServer.authorizationConfig"], place: authorizers },
  { from: ["cluster.proxy.extraArgs"], place: proxyArguments },
  ...movedValues.map(valueMove),
];

function valueMove({ from, kind, name, path, form }: MovedValue): Move {
  return {
    from: [from],
    place: (config) => {
      const found = valueAt(config, from);
      return found === undefined ? undefined : [{ kind, ...given({ name }), path, value: inForm(found, form) }];
    },
  };
}

function inForm(value: Value, form: Form): Value {
  switch (form) {
    case "same":
      return value;
    case "inverse":
      return value !== true;
    case "addresses":
      return Array.isArray(value) ? value.map((address) => new Map([["address", address]])) : value;
    case "pem":
      return pem(value);
    case "pem-pair":
      return pemPair(value);
  }
}

function admissionPlugins(config: Section): readonly PlacedSetting[] {
  return sectionsAt(config, "cluster.apiServer.admissionControl").map((plugin) => ({
    kind: "KubeAdmissionControlConfig",
    name: textAt(plugin, "name"),
    path: "configuration",
    value: plugin.get("configuration") ?? new Map(),
  }));
}

function registryMirrors(config: Section): readonly PlacedSetting[] {
  const mirrors = [...(sectionAt(config, "machine.registries.mirrors") ?? [])];
  return mirrors.flatMap(([name, found]) => {
    const mirror = isSection(found) ? found : undefined;
    const place = { kind: "RegistryMirrorConfig", name };
    const own = Object.entries(given({ overridePath: valueAt(mirror, "overridePath") }));
    const endpoints: Value[] = textsAt(mirror, "endpoints").map(
      (url) => new Map<string, Value>([["url", url], ...own]),
    );
    const skip = valueAt(mirror, "skipFallback");
    const moved = { ...place, path: "endpoints", value: endpoints };
    return skip === undefined ? [moved] : [moved, { ...place, path: "skipFallback", value: skip }];
  });
}

/** One document for each address. */
function staticHosts(config: Section): readonly PlacedSetting[] {
  const names = new Map<string, Value[]>();
  for (const entry of sectionsAt(config, "machine.network.extraHostEntries")) {
    const address = textAt(entry, "ip");
    names.set(address, [...(names.get(address) ?? []), ...textsAt(entry, "aliases")]);
  }
  return [...names].map(([name, value]) => ({ kind: "StaticHostConfig", name, path: "hostnames", value }));
}

/** Credentials and certificates of registries, each in a document of its own. */
function registryAccess(config: Section): readonly PlacedSetting[] {
  return [...(sectionAt(config, "machine.registries.config") ?? [])].flatMap(([name, found]) => {
    const entry = isSection(found) ? found : undefined;
    const auth = [...(sectionAt(entry, "auth") ?? [])];
    const tls = [...(sectionAt(entry, "tls") ?? [])];
    return [
      ...auth.map(([path, value]) => ({ kind: "RegistryAuthConfig", name, path, value })),
      ...tls.map(([path, value]) => ({ kind: "RegistryTLSConfig", name, path, value: registryTls(path, value) })),
    ];
  });
}

function registryTls(key: string, value: Value): Value {
  if (key === "ca") return pem(value);
  return key === "clientIdentity" ? pemPair(value) : value;
}

/** Older contracts put Node and RBAC before those that are given, unless they are among them. */
function authorizers(config: Section): readonly PlacedSetting[] | undefined {
  const given = sectionsAt(config, "cluster.apiServer.authorizationConfig");
  if (given.some((one) => textAt(one, "type") !== "Webhook")) return undefined;
  return given.flatMap((one) =>
    [...one].flatMap(([path, value]) =>
      path === "name" ? [] : [{ kind: "KubeAuthorizerConfig", name: textAt(one, "name"), path, value }],
    ),
  );
}

/** kube-proxy reads a file in the newer form, and ignores most of its flags then. */
function proxyArguments(config: Section): readonly PlacedSetting[] | undefined {
  const places = [...(sectionAt(config, "cluster.proxy.extraArgs") ?? [])].map(([flag, value]) => {
    const setting = proxySetting(flag, typeof value === "string" ? value : "");
    return setting && { kind: "KubeProxyConfig", ...setting };
  });
  return places.every((found) => found !== undefined) ? places : undefined;
}

function podNetwork(config: Section): readonly PlacedSetting[] {
  const flannel = [...(sectionAt(config, "cluster.network.cni.flannel") ?? [])];
  const urls = textsAt(config, "cluster.network.cni.urls");
  return [
    ...flannel.map(([path, value]) => ({ kind: "KubeFlannelCNIConfig", path, value })),
    ...urls.map((url, index) => ({
      kind: "KubeExternalManifestConfig",
      name: index === 0 ? "custom-cni" : `custom-cni-${index + 1}`,
      path: "url",
      value: url,
    })),
  ];
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

/** A selector wins over the path of a disk. */
function installDisk(config: Section): readonly PlacedSetting[] | undefined {
  const selector = sectionAt(config, "machine.install.diskSelector");
  const fields = Object.fromEntries([...(selector ?? [])].map(([key, value]) => [key, String(value)]));
  if (!isExpressible(fields)) return undefined;
  const disk = textAt(config, "machine.install.disk");
  const value = selector === undefined ? deviceExpression(disk) : selectorExpression(fields);
  return [{ kind: "UnattendedInstallConfig", path: "provisioning.diskSelector.match", value }];
}

function kubePrism(config: Section): readonly PlacedSetting[] {
  if (valueAt(config, "machine.features.kubePrism.enabled") !== true) return [];
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

/** Empty where the kubelet chooses among all addresses: contract 1.14 writes it always. */
function nodeAddress(config: Section): PlacedSetting {
  const value = sectionAt(config, "machine.kubelet.nodeIP") ?? new Map();
  return { kind: "KubeNodeConfig", path: "nodeIP", value };
}

/** What contracts up to 1.13 do without a word in the config, as 1.14 says it. */
function builtIn(config: Section): readonly PlacedSetting[] {
  const controlPlane = textAt(config, "machine.type") === "controlplane";
  const node = "KubeNodeConfig";
  const settings: PlacedSetting[] = [nodeAddress(config)];
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
  if (authorizers(config) !== undefined)
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
