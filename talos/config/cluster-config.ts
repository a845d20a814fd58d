// SPDX-License-Identifier: Apache-2.0
import { checkEndpoint } from "../check-endpoint.ts";
import { configDefaults } from "../config-defaults.ts";
import { given } from "../given.ts";
import { defaultInstallImage } from "../image/index.ts";
import { type Contract, KubernetesVersion, type TalosVersion } from "../version/index.ts";
import type { Patch } from "./patch/apply.ts";

/** What pods use to reach each other: Talos's own flannel, nothing (installed later), or manifests from URLs. */
export type Cni =
  | { readonly name: "flannel" }
  | { readonly name: "none" }
  | { readonly name: "custom"; readonly urls: readonly string[] };

/** Options that all machines of a cluster share. */
export interface ClusterConfig {
  readonly clusterName: string;
  /** URL of the Kubernetes API, such as `https://10.5.0.10:6443`. */
  readonly endpoint: string;
  readonly talosVersion: TalosVersion;
  /** The form of the documents. @default that of talosVersion */
  readonly contract?: Contract;
  /** With or without a leading `v`. */
  readonly kubernetesVersion: string;
  /** @default `/dev/sda` */
  readonly installDisk?: string;
  /** @default the installer of talosVersion without extensions */
  readonly installImage?: string;
  /** Further names and addresses in the certificates of the Talos and Kubernetes APIs. @default none */
  readonly additionalSans?: readonly string[];
  /** @default `cluster.local` */
  readonly dnsDomain?: string;
  /** @default `10.244.0.0/16` */
  readonly podSubnets?: readonly string[];
  /** @default `10.96.0.0/12` */
  readonly serviceSubnets?: readonly string[];
  /** @default flannel */
  readonly cni?: Cni;
  /** Whether kube-proxy runs; some CNIs replace it. @default true */
  readonly kubeProxy?: boolean;
  /** Encrypted mesh between the machines. @default not written, which means off */
  readonly kubespan?: boolean;
  /** Whether machines find each other through the discovery service. @default true */
  readonly discovery?: boolean;
  /** Whether nodes are tainted until a cloud controller manager has initialized them. @default false */
  readonly externalCloudProvider?: boolean;
  /** Mirror URLs by registry host. @default none */
  readonly registryMirrors?: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether control planes run ordinary pods. They are then no longer kept out of external load balancers.
   * @default false; see `schedulesOnControlPlanes` for the choice by number of workers
   */
  readonly allowSchedulingOnControlPlanes?: boolean;
  /** An address that the control planes share by layer-2 election. @default none */
  readonly virtualIp?: { readonly address: string; readonly link: string };
}

/** A link with fixed addresses. */
export interface StaticLink {
  readonly name: string;
  /** In CIDR form. */
  readonly addresses: readonly string[];
  readonly gateway?: string;
  readonly mtu?: number;
}

/** Options of one machine. */
export interface MachineConfigInput {
  readonly type: MachineType;
  /** @default a stable name made from the machine's identity */
  readonly hostname?: string;
  /** @default DHCP on every link */
  readonly links?: readonly StaticLink[];
  /** @default from DHCP, else public ones */
  readonly nameservers?: readonly string[];
  /** @default none */
  readonly searchDomains?: readonly string[];
  /** @default none */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** Values are `value:Effect` or `Effect`. @default none */
  readonly nodeTaints?: Readonly<Record<string, string>>;
  /** Id by which a cloud controller manager knows the node; registered with it. @default left to the controller */
  readonly providerId?: string;
  /** Strategic merge or JSON patches, as texts or read already, applied in order. @default none */
  readonly patches?: readonly (string | Patch)[];
}

export type MachineType = "controlplane" | "worker";

/** Cluster options with every default filled in and every value checked. */
export interface ResolvedCluster extends Required<Omit<ClusterConfig, "kubespan" | "virtualIp" | "contract">> {
  readonly contract: Contract;
  readonly kubespan: boolean | undefined;
  readonly virtualIp: ClusterConfig["virtualIp"];
  /** The tag of the Kubernetes images: `v1.36.3`. */
  readonly kubernetesTag: string;
  readonly endpointHost: string;
}

/** Fills in the defaults. Throws when the endpoint or a version is not usable. */
export function resolveCluster(config: ClusterConfig): ResolvedCluster {
  const contract = config.contract ?? config.talosVersion.contract;
  const kubernetes = KubernetesVersion.parse(config.kubernetesVersion);
  return {
    ...configDefaults,
    ...given(config),
    endpointHost: checkEndpoint(config.endpoint).hostname.replace(/^\[(.*)\]$/, "$1"),
    contract,
    kubernetesVersion: kubernetes.toString(),
    kubernetesTag: kubernetes.tag,
    installImage: config.installImage ?? defaultInstallImage(config.talosVersion),
    cni: config.cni ?? { name: configDefaults.cni },
    // What is not set is not written.
    kubespan: config.kubespan,
    virtualIp: config.virtualIp,
  };
}

/** Without workers, ordinary pods have nowhere else to run; with workers, control planes are spared unless asked. */
export function schedulesOnControlPlanes(wish: boolean | undefined, workers: number): boolean {
  return wish ?? workers === 0;
}
