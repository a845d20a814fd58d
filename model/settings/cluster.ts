// SPDX-License-Identifier: Apache-2.0
// The settings of a cluster, of its pools and of its machines. A new one is a row here, and its meaning in talos/config;
// `npm run generate:settings` writes what is generated from the rows.
import { configDefaults } from "../../talos/config-defaults.ts";
import type { SchematicChoice } from "../../talos/image/index.ts";
import type { AirGap, DiskEncryption, Firewall, PatchesByMachine } from "./sections.ts";
import { choice, cni, count, flag, mirrors, type Settings, section, text, textMap, texts } from "./setting.ts";

export const clusterSettings = {
  name: {
    type: text("name"),
    attribute: "name",
    required: true,
    fixed: true,
    otherwise: "the file's name",
    description: "Name of the cluster and beginning of its machines' names.",
  },
  endpoint: {
    type: text("endpoint"),
    attribute: "endpoint",
    required: true,
    sets: "endpoint",
    otherwise: "the VIP, load balancer or first control plane",
    description: "URL of the Kubernetes API, such as `https://10.5.0.10:6443`.",
  },
  talosVersion: {
    type: text("talosVersion"),
    attribute: "talos_version",
    required: true,
    otherwise: "the newest release that this talosmith was tested with",
    description: "Talos release of the machines, such as `v1.13.9`. Goes up only; machines are upgraded one by one.",
  },
  configContract: {
    type: text("configContract"),
    attribute: "config_contract",
    otherwise: "that of the Talos version at creation",
    description:
      "Version contract of the machine configs, such as `v1.13`: their form, and the defaults for new clusters. Upgrades of Talos keep it; change it with `talosmith config migrate`.",
  },
  previousContract: {
    type: text("configContract"),
    attribute: "previous_contract",
    otherwise: "none",
    description:
      "Contract that the configs had before the last `talosmith config migrate`, which writes it. A cluster with any other contract than this or `configContract` is refused.",
  },
  kubernetesVersion: {
    type: text("kubernetesVersion"),
    attribute: "kubernetes_version",
    required: true,
    sets: "kubernetesVersion",
    otherwise: "the version that the Talos release brings",
    description:
      "Kubernetes version without `v`, such as `1.36.3`. Goes up by one minor release at a time; patch releases also go back.",
  },
  domain: {
    type: text("dnsName"),
    attribute: "dns_domain",
    sets: "dnsDomain",
    default: configDefaults.dnsDomain,
    fixed: true,
    description: "DNS domain inside the cluster.",
  },
  podCidrs: {
    type: texts("cidr", 1),
    attribute: "pod_subnets",
    sets: "podSubnets",
    default: configDefaults.podSubnets,
    fixed: true,
    description: "Networks of the pods.",
  },
  serviceCidrs: {
    type: texts("cidr", 1),
    attribute: "service_subnets",
    sets: "serviceSubnets",
    default: configDefaults.serviceSubnets,
    fixed: true,
    description: "Networks of the services.",
  },
  cni: {
    type: cni,
    attribute: "cni",
    sets: "cni",
    default: configDefaults.cni,
    description: "Pod network: `flannel`, `none` where an add-on brings it, or manifests by URL.",
  },
  cniUrls: {
    type: texts("url", 1),
    attribute: "cni_urls",
    terraformOnly: true,
    description: "URLs of the manifests, where `cni` is `custom`.",
  },
  kubeProxy: {
    type: flag,
    attribute: "kube_proxy",
    sets: "kubeProxy",
    default: configDefaults.kubeProxy,
    description: "Whether kube-proxy runs. Set it to false where the pod network replaces it.",
  },
  kubespan: {
    type: flag,
    attribute: "kubespan",
    sets: "kubespan",
    default: configDefaults.kubespan,
    description: "WireGuard between all machines.",
  },
  discovery: {
    type: flag,
    attribute: "discovery",
    sets: "discovery",
    default: configDefaults.discovery,
    description: "Talos cluster discovery.",
  },
  externalCloudProvider: {
    type: flag,
    attribute: "external_cloud_provider",
    sets: "externalCloudProvider",
    default: configDefaults.externalCloudProvider,
    description:
      "Taint new nodes until a cloud controller manager has initialized them. `cloudControllerManager` on AWS sets it.",
  },
  allowSchedulingOnControlPlanes: {
    type: flag,
    attribute: "allow_scheduling_on_control_planes",
    sets: "allowSchedulingOnControlPlanes",
    otherwise: "only when there are no workers",
    terraformDefault: configDefaults.allowSchedulingOnControlPlanes,
    description: "Whether control planes run ordinary pods.",
  },
  certSans: {
    type: texts("hostOrAddress"),
    attribute: "additional_sans",
    sets: "additionalSans",
    default: configDefaults.additionalSans,
    description: "Further names and addresses in the certificates of the Talos and Kubernetes APIs.",
  },
  installDisk: {
    type: text(),
    attribute: "install_disk",
    sets: "installDisk",
    otherwise: "the infrastructure's",
    terraformDefault: configDefaults.installDisk,
    description: "Disk that Talos is installed on.",
  },
  installImage: {
    type: text(),
    attribute: "install_image",
    sets: "installImage",
    otherwise: "the Talos release's, with what the schematic adds",
    description: "Installer image.",
  },
  registryMirrors: {
    type: mirrors,
    attribute: "registry_mirrors",
    sets: "registryMirrors",
    default: configDefaults.registryMirrors,
    description: "Mirror URLs by registry host, or by `*` for all registries.",
  },
  schematic: {
    type: section<SchematicChoice>("schematic"),
    otherwise: "nothing",
    description: "What is added to the Talos image.",
  },
  airGap: {
    type: section<AirGap>("airGap"),
    otherwise: "they can",
    description: "For machines that cannot reach the internet.",
  },
  diskEncryption: {
    type: section<DiskEncryption>("diskEncryption"),
    otherwise: "none",
    description: "Encrypted system volumes.",
  },
  firewall: {
    type: section<Firewall>("firewall"),
    otherwise: "everything is allowed",
    description: "What may reach the machines; everything else is blocked.",
  },
  patchFiles: {
    type: texts("relativePath"),
    default: [],
    description:
      "Files with config patches that hold secrets, for every machine; they may be encrypted with age (.age) or SOPS (.sops.yaml). Only their hash is in plans and state.",
  },
  patches: {
    type: section<PatchesByMachine>("patches"),
    otherwise: "none",
    description: "Talos config patches, applied in this order.",
  },
} as const satisfies Settings;

/** What a pool of machines has on every infrastructure. */
export const poolSettings = {
  labels: {
    type: textMap("labelValue"),
    default: {},
    description: "Kubernetes node labels.",
  },
  taints: {
    type: textMap("taint"),
    default: {},
    description: "Kubernetes node taints: key to value:effect, or to effect alone.",
  },
  patches: {
    type: section<readonly string[]>("patchList"),
    default: [],
    description: "Talos config patches for the machines of this pool.",
  },
} as const satisfies Settings;

/** On nodes of machines that an auto scaling group starts: the name of their pool. */
export const scalingPoolLabel = "talosmith.internal/pool";

/** What Terraform knows of a machine. Files and constructs have it by pool and infrastructure. */
export const machineSettings = {
  role: {
    type: choice("controlplane", "worker"),
    attribute: "role",
    required: true,
    fixed: true,
    sets: "role",
    description: "`controlplane` or `worker`.",
  },
  address: {
    type: text(),
    attribute: "address",
    required: true,
    sets: "address",
    description: "Where the machine's Talos API answers.",
  },
  fingerprint: {
    type: text(),
    attribute: "fingerprint",
    sets: "fingerprint",
    description:
      "Fingerprint of the machine's certificate in maintenance mode. With it, the initial config, which holds secrets, goes to this machine only.",
  },
  memberId: {
    type: text(),
    attribute: "member_id",
    description:
      "The `id` of the machine's `talosmith_member`: a machine that is removed then leaves the cluster before it is destroyed.",
  },
  hardwareId: {
    type: text(),
    attribute: "hardware_id",
    description:
      "The `id` of a `terraform_data` whose replacement means that the machine is stopped: it changes nothing here, but a plan that stops several control planes at once, or more workers than `max_unavailable` of `rollout`, is refused.",
  },
  diskSize: {
    type: count(1, 2 ** 50),
    attribute: "disk_size",
    description:
      "Bytes of the machine's disk, where it can grow and not shrink: it changes nothing here, but a plan with a smaller one is refused.",
  },
  patches: {
    type: texts(),
    attribute: "patches",
    sets: "patches",
    description:
      "Config patches for this machine, as YAML. They are in plan and state: a patch that holds a secret is refused and belongs in `patch_files`.",
  },
  patchFiles: {
    type: texts(),
    attribute: "patch_files",
    description:
      "Files with more config patches, applied after `patches`, relative to the project's root. For patches that hold secrets, such as passwords of registries: they are read when they are needed, and only a keyed hash is stored. A file may be encrypted with age (`.age`) or SOPS (`.sops.yaml`), as `secrets_file` may. One that holds nothing but the passphrase of an encrypted system volume is named with the volume and the key's slot: `secrets/disk.key#STATE/0`.",
  },
  providerId: {
    type: text(),
    attribute: "provider_id",
    sets: "providerId",
    description:
      "Id by which a cloud controller manager knows the node, such as `aws:///eu-central-1a/i-0123456789abcdef0`. The kubelet registers the node with it; a node that exists already keeps its own.",
  },
  meta: {
    type: textMap(),
    attribute: "meta",
    sets: "meta",
    description:
      "Values of the machine's META partition by key, such as `10` for its network; an empty text removes a value, and so does removing the key. No secrets: they are in plan and state.",
  },
} as const satisfies Settings;

/** What Terraform knows of the machines that an auto scaling group starts. */
export const scalingPoolSettings = {
  patches: machineSettings.patches,
  patchFiles: machineSettings.patchFiles,
} as const satisfies Settings;

/** How many machines a pool has, and what it is called. */
export const workerSettings = {
  name: {
    type: text("name"),
    default: "w",
    description: "Name of the pool; its machines are <cluster>-<name>-1, -2, …",
  },
  count: { type: count(0, 5_000), default: 2, description: "Number of machines." },
} as const satisfies Settings;

export const controlPlaneSettings = {
  count: { type: count(1, 7), default: 1, description: "Number of control planes; an odd number is recommended." },
} as const satisfies Settings;
