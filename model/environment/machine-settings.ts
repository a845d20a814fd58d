// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import { diskKeyFile } from "../../talos/disk-key-file.ts";
import { type Contract, TalosVersion } from "../../talos/version/index.ts";
import type { ClusterSection } from "../schema/index.ts";
import type { Patches } from "./environment.ts";
import { firewallDocuments } from "./firewall.ts";
import { formatSize } from "./quantity.ts";

type Settings = Pick<
  ClusterSection,
  "airGap" | "diskEncryption" | "firewall" | "kubespan" | "registryMirrors" | "talosVersion"
>;
type EncryptionKeys = NonNullable<NonNullable<Settings["diskEncryption"]>["state"]>;

/** The patches with what the cluster's settings mean in a machine config of its release, before everything else. */
export function withSettings(settings: Settings, patches: Patches): Patches {
  const { contract } = TalosVersion.parse(settings.talosVersion);
  const all = [...airGapDocuments(contract, settings), ...encryptionDocuments(contract, settings)];
  const open = settings.firewall === undefined ? undefined : firewallDocuments(settings.firewall, settings.kubespan);
  return {
    ...patches,
    all: [...texts([...all, ...(open?.all ?? [])]), ...patches.all],
    controlPlane: [...texts(open?.controlPlane ?? []), ...patches.controlPlane],
    worker: [...texts(open?.worker ?? []), ...patches.worker],
  };
}

const texts = (documents: readonly object[]) => documents.map((document) => stringify(document, { lineWidth: 0 }));
const document = (kind: string, fields: object) => ({ apiVersion: "v1alpha1", kind, ...fields });

function airGapDocuments(contract: Contract, { airGap, registryMirrors }: Settings): readonly object[] {
  if (airGap === undefined) return [];
  const hosts = airGap.fallback ? [] : Object.keys(registryMirrors).sort();
  const closed = contract.registryDocuments
    ? hosts.map((name) => document("RegistryMirrorConfig", { name, skipFallback: true }))
    : hosts.map((host) => ({ machine: { registries: { mirrors: { [host]: { skipFallback: true } } } } }));
  const cache = contract.kubernetesDocuments
    ? document("ImageCacheConfig", { local: { enabled: true } })
    : { machine: { features: { imageCache: { localEnabled: true } } } };
  return [...closed, ...(airGap.imageCache ? [cache, imageCacheVolume(airGap)] : [])];
}

/** Without this volume the cache stays on the medium that the machine was started from, and goes with it. */
function imageCacheVolume({ imageCacheVolume: { disk, size } = {} }: NonNullable<Settings["airGap"]>): object {
  const sizes = size === undefined ? {} : { minSize: formatSize(size), maxSize: formatSize(size) };
  const provisioning = { diskSelector: { match: disk ?? "system_disk" }, ...sizes };
  return document("VolumeConfig", { name: "IMAGECACHE", provisioning });
}

/** Files that hold passphrases, each for its volume and slot. What is in them must not come in here. */
export function diskKeyFiles({ diskEncryption }: Settings): readonly string[] {
  return (["state", "ephemeral"] as const).flatMap((name) =>
    (diskEncryption?.[name] ?? []).flatMap((key, slot) =>
      "static" in key ? [diskKeyFile(key.static.file, { volume: name === "state" ? "STATE" : "EPHEMERAL", slot })] : [],
    ),
  );
}

function encryptionDocuments(contract: Contract, { diskEncryption }: Settings): readonly object[] {
  const volumes = (["state", "ephemeral"] as const).flatMap((name) => {
    const keys = numbered(diskEncryption?.[name] ?? []);
    return keys.length === 0 ? [] : [{ name, encryption: { provider: "luks2", keys } }];
  });
  if (contract.encryptionDocuments)
    return volumes.map(({ name, encryption }) => document("VolumeConfig", { name: name.toUpperCase(), encryption }));
  const sections = Object.fromEntries(volumes.map(({ name, encryption }) => [name, encryption]));
  return volumes.length === 0 ? [] : [{ machine: { systemDiskEncryption: sections } }];
}

function numbered(keys: EncryptionKeys): readonly object[] {
  return keys.flatMap((key, slot): readonly object[] => {
    if ("static" in key) return [];
    if ("tpm" in key) return [{ slot, tpm: { checkSecurebootStatusOnEnroll: key.tpm.checkSecureBoot } }];
    return "kms" in key ? [{ slot, kms: key.kms }] : [{ slot, nodeID: {} }];
  });
}
