// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Environment, formatFault, parseEnvironment, patchFilesOf, resolveCluster } from "../../../model/index.ts";
import { generateMachineConfig, MachineConfig, patchOfFile, validateConfig } from "../../../talos/config/index.ts";
import { parseSecrets } from "../../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";

const secretsFile = new URL("../../golden/secrets/secrets-v1.13.yaml", import.meta.url);
const secrets = parseSecrets(readFileSync(secretsFile, "utf8"), "secrets.yaml");
const versions = Contract.all().map((contract) => TalosVersion.newestOf(contract));

function environmentOf(cluster: object, infrastructure: object = { kind: "simulated" }): Environment {
  const text = JSON.stringify({ cluster, infrastructure, controlPlane: {} });
  return parseEnvironment("sample", (file) => (file === "environments/sample.yaml" ? text : undefined));
}

type Documents = readonly { readonly kind?: string; readonly name?: string; readonly [key: string]: unknown }[];

/** The config of a machine with these settings, checked as a machine of this release would. */
function documentsOf(
  version: TalosVersion,
  settings: object,
  type: "controlplane" | "worker" = "controlplane",
  more: readonly string[] = [],
): Documents {
  const { cluster } = environmentOf({ talosVersion: version.toString(), ...settings });
  const { patches, settings: resolved } = resolveCluster(cluster, { platform: "metal", workers: 1, certSans: [] });
  const { all, controlPlane, worker } = patches;
  const config = generateMachineConfig(
    {
      clusterName: "sample",
      endpoint: "https://10.0.0.1:6443",
      talosVersion: version,
      kubernetesVersion: cluster.kubernetesVersion,
      registryMirrors: resolved.registryMirrors ?? {},
      kubespan: cluster.kubespan,
    },
    secrets,
    { type, hostname: "a", patches: [...all, ...(type === "worker" ? worker : controlPlane), ...more] },
  );
  const { error } = validateConfig(new MachineConfig(config, "a.yaml"), { mode: "metal", talos: version });
  expect(error).toBeUndefined();
  return parseAllDocuments(config).map((document) => document.toJS() as Documents[number]);
}

const byKind = (documents: Documents, kind: string) => documents.filter((document) => document.kind === kind);

describe.each(versions.map((version) => [version.toString(), version] as const))("with Talos %s", (_, version) => {
  it("an air gap closes the way past the mirrors and switches the image cache on", () => {
    const airGap = {
      mirrors: { "docker.io": ["https://mirror.example"], "*": ["https://all.example"] },
      imageCache: true,
    };
    const documents = documentsOf(version, { airGap, discovery: false });
    const [legacy] = documents as [{ machine: Record<string, Record<string, unknown>> }];
    const mirrors = version.contract.registryDocuments
      ? Object.fromEntries(
          byKind(documents, "RegistryMirrorConfig").map((mirror) => [mirror.name, mirror.skipFallback]),
        )
      : Object.fromEntries(
          Object.entries(legacy.machine.registries?.mirrors as Record<string, { skipFallback?: boolean }>).map(
            ([host, mirror]) => [host, mirror.skipFallback],
          ),
        );
    expect(mirrors).toEqual({ "docker.io": true, "*": true });
    const cache = version.contract.kubernetesDocuments
      ? byKind(documents, "ImageCacheConfig")[0]?.local
      : legacy.machine.features?.imageCache;
    expect(JSON.stringify(cache)).toMatch(/nabled":true/);
    const volume = byKind(documents, "VolumeConfig").find(({ name }) => name === "IMAGECACHE");
    expect(volume?.provisioning).toEqual({ diskSelector: { match: "system_disk" } });
  });

  it("the image cache gets the disk and the size that it was given", () => {
    const airGap = { imageCache: true, imageCacheVolume: { size: "4GiB", disk: 'disk.transport == "nvme"' } };
    const volumes = byKind(documentsOf(version, { airGap, discovery: false }), "VolumeConfig");
    expect(volumes.find(({ name }) => name === "IMAGECACHE")).toMatchObject({
      provisioning: { diskSelector: { match: 'disk.transport == "nvme"' }, minSize: "4GiB", maxSize: "4GiB" },
    });
  });

  it("a passphrase from a file takes its place among the other keys, and is in no patch of the environment", () => {
    const state = [{ tpm: {} }, { static: { file: "secrets/disk.key" } }];
    const settings = { diskEncryption: { state, ephemeral: [{ static: { file: "secrets/disk.key" } }] } };
    const patchFiles = patchFilesOf(environmentOf({ talosVersion: version.toString(), ...settings }).cluster);
    expect(patchFiles).toEqual(["secrets/disk.key#STATE/1", "secrets/disk.key#EPHEMERAL/0"]);
    const patches = patchFiles.map((name) => patchOfFile(name, "opensesame\n", version.contract));
    const documents = documentsOf(version, settings, "worker", patches);
    const [legacy] = documents as [{ machine: { systemDiskEncryption?: object } }];
    const found = version.contract.encryptionDocuments
      ? Object.fromEntries(
          byKind(documents, "VolumeConfig").map(({ name, encryption }) => [name?.toLowerCase(), encryption]),
        )
      : legacy.machine.systemDiskEncryption;
    expect(found).toMatchObject({
      state: {
        keys: [
          { slot: 0, tpm: {} },
          { slot: 1, static: { passphrase: "opensesame" } },
        ],
      },
      ephemeral: { keys: [{ slot: 0, static: { passphrase: "opensesame" } }] },
    });
  });

  it("keys encrypt the system volumes", () => {
    const state = [{ tpm: {} }, { kms: { endpoint: "https://kms.example:4050" } }];
    const documents = documentsOf(version, { diskEncryption: { state, ephemeral: [{ nodeID: true }] } });
    const [legacy] = documents as [{ machine: { systemDiskEncryption?: object } }];
    const found = version.contract.encryptionDocuments
      ? Object.fromEntries(
          byKind(documents, "VolumeConfig").map(({ name, encryption }) => [name?.toLowerCase(), encryption]),
        )
      : legacy.machine.systemDiskEncryption;
    expect(found).toMatchObject({
      state: {
        provider: "luks2",
        keys: [
          { slot: 0, tpm: {} },
          { slot: 1, kms: { endpoint: "https://kms.example:4050" } },
        ],
      },
      ephemeral: { provider: "luks2", keys: [{ slot: 0, nodeID: {} }] },
    });
  });

  it("KubeSpan is on", () => {
    const documents = documentsOf(version, { kubespan: true });
    const [legacy] = documents as [{ machine: { network?: { kubespan?: object } } }];
    const found = byKind(documents, "KubeSpanConfig")[0] ?? legacy.machine.network?.kubespan;
    expect(found).toMatchObject({ enabled: true });
  });

  it("a firewall blocks everything but what each role needs", () => {
    const firewall = {
      nodes: ["10.0.0.0/24"],
      admins: ["203.0.113.0/24"],
      rules: [{ name: "http", ports: [80, "30000-32767"], from: ["0.0.0.0/0"], on: "worker" }],
    };
    const names = (type: "controlplane" | "worker") => {
      const documents = documentsOf(version, { firewall, kubespan: true }, type);
      expect(byKind(documents, "NetworkDefaultActionConfig")).toMatchObject([{ ingress: "block" }]);
      return byKind(documents, "NetworkRuleConfig").map(({ name }) => name);
    };
    expect(names("controlplane")).toEqual(["apid", "kubelet", "vxlan", "kubespan", "trustd", "kubernetes-api", "etcd"]);
    expect(names("worker")).toEqual(["apid", "kubelet", "vxlan", "kubespan", "http"]);
  });
});

describe("settings that do not go together", () => {
  const faults = (cluster: object, infrastructure?: object) => {
    try {
      return environmentOf(cluster, infrastructure).warnings.map(formatFault).join("\n");
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    [
      "a passphrase in the file",
      { diskEncryption: { state: [{ static: { passphrase: "x" } }] } },
      /static with the file that holds the passphrase/,
    ],
    [
      "a volume for an image cache that is off",
      { airGap: { imageCacheVolume: { size: "4GiB" } }, discovery: false },
      /imageCache: true beside imageCacheVolume/,
    ],
    ["no keys at all", { diskEncryption: {} }, /keys for state, ephemeral or both/],
    ["a key that comes with the machine alone", { diskEncryption: { state: [{ nodeID: true }] } }, /nodeID alone/],
    ["KubeSpan without discovery", { kubespan: true, discovery: false }, /kubespan with discovery: false/],
    ["an air gap with discovery on the internet", { airGap: {} }, /discovery by a service on the internet/],
    [
      "two rules of one name",
      { firewall: { nodes: ["10.0.0.0/8"], rules: [{ name: "etcd", ports: [1], from: ["10.0.0.0/8"] }] } },
      /a second rule named etcd/,
    ],
  ])("%s", (_, cluster, message) => {
    expect(faults(cluster)).toMatch(message);
  });

  it("a firewall that locks a machine out", () => {
    const text = faults({ firewall: { nodes: ["10.9.0.0/24"] } }, { kind: "libvirt", trustOnFirstUse: true });
    expect(text).toMatch(/10\.0\.0\.70 is not inside/);
  });
});
