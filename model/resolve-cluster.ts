// SPDX-License-Identifier: Apache-2.0
// What the settings of a cluster come to once its machines and what they run on are known: the same with and without
// Terraform, for files and for constructs.
import { stringify } from "yaml";
import { schedulesOnControlPlanes } from "../talos/config/index.ts";
import { diskKeyFile } from "../talos/disk-key-file.ts";
import { filled } from "../talos/given.ts";
import { clusterInstaller, type Platform } from "../talos/image/index.ts";
import { type Contract, contractOf, defaultTalosVersion, TalosVersion } from "../talos/version/index.ts";
import { formatSize } from "./environment/quantity.ts";
import type {
  AirGap,
  clusterSettings,
  DiskEncryption,
  EncryptionKey,
  Firewall,
  FirewallRule,
  GivenOf,
} from "./settings/index.ts";

type ClusterGiven = GivenOf<typeof clusterSettings>;
type Mirrors = NonNullable<ClusterGiven["registryMirrors"]>;

/** What a cluster's settings depend on beside themselves. */
export interface ClusterSurroundings {
  /** Talos's name of what the machines run on, such as `metal`. */
  readonly platform: Platform;
  /** Number of workers, of all pools. */
  readonly workers: number;
  /** Names and addresses that the infrastructure needs in the API certificates. */
  readonly certSans: readonly string[];
  /** Whether the infrastructure has a cloud controller manager of its own. @default false */
  readonly cloudControllerManager?: boolean | undefined;
  /** The infrastructure's, where the settings have none. */
  readonly installDisk?: string | undefined;
}

/** Patches by whom they are for, as YAML texts. */
export interface Patches {
  readonly all: readonly string[];
  readonly controlPlane: readonly string[];
  readonly worker: readonly string[];
  readonly machines: { readonly [machine: string]: readonly string[] };
}

export interface ResolvedCluster {
  /** Settings that become options of the config generator, or arguments in Terraform. */
  readonly settings: ClusterGiven & { readonly installImage: string; readonly configContract: string };
  /** With what the other settings mean in a machine config of the contract, before everything else. */
  readonly patches: Patches;
}

/** Decides what depends on machines and infrastructure, and turns what has no option of its own into patches. */
export function resolveCluster(given: ClusterGiven, surroundings: ClusterSurroundings): ResolvedCluster {
  const release = given.talosVersion === undefined ? defaultTalosVersion : TalosVersion.parse(given.talosVersion);
  const {
    schematic = nothingAdded,
    airGap,
    firewall,
    kubespan = false,
    installDisk = surroundings.installDisk,
  } = given;
  const contract = contractOf(given);
  const registryMirrors = { ...airGap?.mirrors, ...given.registryMirrors };
  const ports = firewall === undefined ? undefined : firewallDocuments(firewall, kubespan);
  const ofAll = [
    ...airGapDocuments(contract, airGap, registryMirrors),
    ...encryptionDocuments(contract, given.diskEncryption),
    ...(ports?.all ?? []),
  ];
  const { all = [], controlPlane = [], worker = [], machines = {} } = given.patches ?? {};
  return {
    settings: {
      ...given,
      configContract: contract.toString(),
      registryMirrors,
      installDisk,
      installImage: given.installImage ?? clusterInstaller(schematic, release, surroundings.platform, airGap?.factory),
      externalCloudProvider: given.externalCloudProvider || surroundings.cloudControllerManager,
      certSans: [...new Set([...surroundings.certSans, ...(given.certSans ?? [])])],
      allowSchedulingOnControlPlanes: schedulesOnControlPlanes(
        given.allowSchedulingOnControlPlanes,
        surroundings.workers,
      ),
    },
    patches: {
      all: [...texts(ofAll), ...all],
      controlPlane: [...texts(ports?.controlPlane ?? []), ...controlPlane],
      worker: [...texts(ports?.worker ?? []), ...worker],
      machines,
    },
  };
}

const nothingAdded = { extensions: [], kernelArgs: [] };

/** Files with patches that hold secrets: those that are named, and those with passphrases of encrypted volumes. */
export function patchFilesOf({ patchFiles = [], diskEncryption }: ClusterGiven): readonly string[] {
  return [...patchFiles, ...diskKeyFiles(diskEncryption)];
}

const texts = (documents: readonly object[]) => documents.map((document) => stringify(document, { lineWidth: 0 }));
const document = (kind: string, fields: object) => ({ apiVersion: "v1alpha1", kind, ...fields });

function airGapDocuments(contract: Contract, airGap: AirGap | undefined, registryMirrors: Mirrors): readonly object[] {
  if (airGap === undefined) return [];
  const hosts = airGap.fallback ? [] : Object.keys(registryMirrors).sort();
  const closed = contract.registryDocuments
    ? hosts.map((name) => document("RegistryMirrorConfig", { name, skipFallback: true }))
    : hosts.map((host) => ({ machine: { registries: { mirrors: { [host]: { skipFallback: true } } } } }));
  const cache = contract.kubernetesDocuments
    ? document("ImageCacheConfig", { local: { enabled: true } })
    : { machine: { features: { imageCache: { localEnabled: true } } } };
  return airGap.imageCache ? [...closed, cache, imageCacheVolume(airGap)] : closed;
}

/** Without this volume the cache stays on the medium that the machine was started from, and goes with it. */
function imageCacheVolume({ imageCacheVolume: { disk, size } = {} }: AirGap): object {
  const sizes = size === undefined ? {} : { minSize: formatSize(size), maxSize: formatSize(size) };
  const provisioning = { diskSelector: { match: disk ?? "system_disk" }, ...sizes };
  return document("VolumeConfig", { name: "IMAGECACHE", provisioning });
}

/** Files that hold passphrases, each for its volume and slot. What is in them must not come in here. */
function diskKeyFiles(diskEncryption: DiskEncryption | undefined): readonly string[] {
  return (["state", "ephemeral"] as const).flatMap((name) =>
    (diskEncryption?.[name] ?? []).flatMap((key, slot) =>
      "static" in key ? [diskKeyFile(key.static.file, { volume: name === "state" ? "STATE" : "EPHEMERAL", slot })] : [],
    ),
  );
}

function encryptionDocuments(contract: Contract, diskEncryption: DiskEncryption | undefined): readonly object[] {
  const volumes = (["state", "ephemeral"] as const).flatMap((name) => {
    const keys = numbered(diskEncryption?.[name] ?? []);
    return keys.length === 0 ? [] : [{ name, encryption: { provider: "luks2", keys } }];
  });
  if (contract.encryptionDocuments)
    return volumes.map(({ name, encryption }) => document("VolumeConfig", { name: name.toUpperCase(), encryption }));
  const sections = Object.fromEntries(volumes.map(({ name, encryption }) => [name, encryption]));
  return volumes.length === 0 ? [] : [{ machine: { systemDiskEncryption: sections } }];
}

function numbered(keys: readonly EncryptionKey[]): readonly object[] {
  return keys.flatMap((key, slot): readonly object[] => {
    if ("static" in key) return [];
    if ("tpm" in key) return [{ slot, tpm: { checkSecurebootStatusOnEnroll: key.tpm.checkSecureBoot } }];
    return "kms" in key ? [{ slot, kms: key.kms }] : [{ slot, nodeID: {} }];
  });
}

type Opening = FirewallRule & { readonly protocol: "tcp" | "udp"; readonly on: "all" | "controlPlane" | "worker" };
type FirewallDocuments = Readonly<Record<Opening["on"], readonly object[]>>;

/** Talos's ingress firewall: everything is blocked but what Talos and Kubernetes need, and what the file opens. */
function firewallDocuments({ nodes, admins = [], rules = [] }: Firewall, kubespan: boolean): FirewallDocuments {
  const both = [...new Set([...nodes, ...admins])];
  const openings: Opening[] = [
    { name: "apid", ports: [50000], protocol: "tcp", from: both, on: "all" },
    { name: "kubelet", ports: [10250], protocol: "tcp", from: nodes, on: "all" },
    // 4789 is Talos's flannel, 8472 what most others take.
    { name: "vxlan", ports: [4789, 8472], protocol: "udp", from: nodes, on: "all" },
    { name: "trustd", ports: [50001], protocol: "tcp", from: nodes, on: "controlPlane" },
    { name: "kubernetes-api", ports: [6443], protocol: "tcp", from: both, on: "controlPlane" },
    { name: "etcd", ports: ["2379-2380"], protocol: "tcp", from: nodes, on: "controlPlane" },
  ];
  // Its peers prove themselves by key, and may come from anywhere.
  if (kubespan)
    openings.push({ name: "kubespan", ports: [51820], protocol: "udp", from: ["0.0.0.0/0", "::/0"], on: "all" });
  openings.push(...rules.map(({ protocol = "tcp", on = "all", ...rule }) => ({ ...rule, protocol, on })));
  const documents = (on: Opening["on"]) => openings.filter((opening) => opening.on === on).map(ruleDocument);
  return {
    all: [document("NetworkDefaultActionConfig", { ingress: "block" }), ...documents("all")],
    controlPlane: documents("controlPlane"),
    worker: documents("worker"),
  };
}

/** The names of the rules that are always there. */
export const ownRuleNames = ["apid", "kubelet", "vxlan", "trustd", "kubernetes-api", "etcd", "kubespan"];

function ruleDocument({ name, ports, protocol, from }: Opening): object {
  const ingress = from.map((subnet) => ({ subnet }));
  return document("NetworkRuleConfig", { name, portSelector: { ports, protocol }, ingress });
}

interface NodeMarks {
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly taints?: { readonly [key: string]: string } | undefined;
}

/** The config patch that gives a machine its Kubernetes labels and taints, or undefined without any. */
export function nodePatch(contract: Contract, { labels = {}, taints = {} }: NodeMarks): string | undefined {
  const [nodeLabels, nodeTaints] = [filled(labels), filled(taints)];
  if (nodeLabels === undefined && nodeTaints === undefined) return undefined;
  const patch = contract.kubernetesDocuments
    ? document("KubeNodeConfig", { labels: nodeLabels, taints: nodeTaints })
    : { machine: { nodeLabels, nodeTaints } };
  return stringify(patch, { sortMapEntries: true });
}
