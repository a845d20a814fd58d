// SPDX-License-Identifier: Apache-2.0
// Generated from model/settings by npm run generate:settings: change those, not this file.
import type { AirGap, DiskEncryption, Firewall, PatchesByMachine } from "../../model/settings/index.ts";
import type { SchematicChoice } from "../../talos/image/index.ts";

/** The settings of a cluster. */
export interface ClusterSettingProps {
  /**
   * URL of the Kubernetes API, such as `https://10.5.0.10:6443`.
   * @default - the VIP, load balancer or first control plane
   */
  readonly endpoint?: string | undefined;
  /**
   * Talos release of the machines, such as `v1.13.9`. Goes up only; machines are upgraded one by one.
   * @default - the newest release that this talosmith was tested with
   */
  readonly talosVersion?: string | undefined;
  /**
   * Version contract of the machine configs, such as `v1.13`: their form, and the defaults for new clusters. Upgrades
   * of Talos keep it; change it with `talosmith config migrate`.
   * @default - that of the Talos version at creation
   */
  readonly configContract?: string | undefined;
  /**
   * Contract that the configs had before the last `talosmith config migrate`, which writes it. A cluster with any
   * other contract than this or `configContract` is refused.
   * @default - none
   */
  readonly previousContract?: string | undefined;
  /**
   * Kubernetes version without `v`, such as `1.36.3`. Goes up by one minor release at a time; patch releases also go
   * back.
   * @default - the version that the Talos release brings
   */
  readonly kubernetesVersion?: string | undefined;
  /** DNS domain inside the cluster. Can't be changed after creation. @default cluster.local */
  readonly domain?: string | undefined;
  /** Networks of the pods. Can't be changed after creation. @default ["10.244.0.0/16"] */
  readonly podCidrs?: readonly string[] | undefined;
  /** Networks of the services. Can't be changed after creation. @default ["10.96.0.0/12"] */
  readonly serviceCidrs?: readonly string[] | undefined;
  /** Pod network: `flannel`, `none` where an add-on brings it, or manifests by URL. @default flannel */
  readonly cni?: "flannel" | "none" | { readonly urls: readonly string[] } | undefined;
  /** Whether kube-proxy runs. Set it to false where the pod network replaces it. @default true */
  readonly kubeProxy?: boolean | undefined;
  /** WireGuard between all machines. @default false */
  readonly kubespan?: boolean | undefined;
  /** Talos cluster discovery. @default true */
  readonly discovery?: boolean | undefined;
  /**
   * Taint new nodes until a cloud controller manager has initialized them. `cloudControllerManager` on AWS sets it.
   * @default false
   */
  readonly externalCloudProvider?: boolean | undefined;
  /** Whether control planes run ordinary pods. @default - only when there are no workers */
  readonly allowSchedulingOnControlPlanes?: boolean | undefined;
  /** Further names and addresses in the certificates of the Talos and Kubernetes APIs. @default - none */
  readonly certSans?: readonly string[] | undefined;
  /** Disk that Talos is installed on. @default - the infrastructure's */
  readonly installDisk?: string | undefined;
  /** Installer image. @default - the Talos release's, with what the schematic adds */
  readonly installImage?: string | undefined;
  /** Mirror URLs by registry host, or by `*` for all registries. @default - none */
  readonly registryMirrors?: Readonly<Record<string, readonly string[]>> | undefined;
  /** What is added to the Talos image. @default - nothing */
  readonly schematic?: SchematicChoice | undefined;
  /** For machines that cannot reach the internet. @default - they can */
  readonly airGap?: AirGap | undefined;
  /** Encrypted system volumes. @default - none */
  readonly diskEncryption?: DiskEncryption | undefined;
  /** What may reach the machines; everything else is blocked. @default - everything is allowed */
  readonly firewall?: Firewall | undefined;
  /**
   * Files with config patches that hold secrets, for every machine; they may be encrypted with age (.age) or SOPS
   * (.sops.yaml). Only their hash is in plans and state.
   * @default - none
   */
  readonly patchFiles?: readonly string[] | undefined;
  /** Talos config patches, applied in this order. @default - none */
  readonly patches?: PatchesByMachine | undefined;
}

/** What a pool of machines has on every infrastructure. */
export interface PoolSettingProps {
  /** Kubernetes node labels. @default - none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Kubernetes node taints: key to value:effect, or to effect alone. @default - none */
  readonly taints?: Readonly<Record<string, string>> | undefined;
  /** Talos config patches for the machines of this pool. @default - none */
  readonly patches?: readonly string[] | undefined;
}

/** How careful changes of machines in use are. */
export interface RolloutProps {
  /**
   * How many workers may be unavailable at once: a number such as 2, or a share such as 25%, rounded down to at least
   * one. Control planes are changed one by one.
   * @default 1
   */
  readonly maxUnavailable?: number | `${number}%` | undefined;
  /** How long draining a machine may take. Milliseconds. @default 300000 */
  readonly drainTimeout?: number | undefined;
  /**
   * What happens to pods that are still there by then: `fail` stops before the machine is changed, `delete` deletes
   * them whatever their disruption budgets say, `leave` lets them end with the machine.
   * @default fail
   */
  readonly stuckPods?: "fail" | "delete" | "leave" | undefined;
  /** Boot the old Talos again where the new one does not become healthy. @default true */
  readonly revertFailedUpgrades?: boolean | undefined;
  /**
   * When a deploy is done: `full` when all checks of `talosctl health` pass, `api` when etcd is healthy and the
   * Kubernetes API answers, for clusters whose pod network is installed afterwards, `talos` when Talos and etcd are
   * healthy, for machines on which Kubernetes cannot run. `--no-kubernetes` sets `talos` for one run.
   * @default full
   */
  readonly healthLevel?: "full" | "api" | "talos" | undefined;
  /** Checks that must pass before a machine in use is changed; each has a `command` or a `url`. @default - none */
  readonly gates?:
    | readonly (
        | {
            /**
             * A program and its arguments, without a shell, run in the project's folder with TALOSMITH_CLUSTER and
             * TALOSMITH_MACHINE in its environment. It passes with exit code 0.
             */
            readonly command: readonly string[];
            /** How long it is repeated before the rollout stops. Milliseconds. @default 300000 */
            readonly timeout?: number | undefined;
          }
        | {
            /** It passes when it answers with 2xx. */
            readonly url: string;
            /** How long it is repeated before the rollout stops. Milliseconds. @default 300000 */
            readonly timeout?: number | undefined;
          }
      )[]
    | undefined;
  /**
   * Maintenance windows: outside of them no change of a machine in use is started, and the run ends with the time when
   * the next one opens. A change that has started is completed.
   * @default - none
   */
  readonly windows?:
    | readonly {
        /** When it opens, as five fields of cron. */
        readonly schedule: string;
        /** How long it stays open, such as `4h`. Milliseconds. */
        readonly duration: number;
        /** Time zone of the schedule, such as `Europe/Berlin`. @default UTC */
        readonly timeZone?: string | undefined;
      }[]
    | undefined;
  /** The first machines of a change, after which it waits. @default - none */
  readonly canary?:
    | {
        /** How many machines get a change first. */
        readonly machines: number;
        /** How long they are watched before the others follow. Milliseconds. @default 0 */
        readonly soak?: number | undefined;
        /** `stop`: the run ends there, and the next one continues. `continue`: it continues by itself. @default stop */
        readonly afterwards?: "stop" | "continue" | undefined;
      }
    | undefined;
}

/** A Helm release. */
export interface AddonProps {
  /** Name of the Helm release. */
  readonly name: string;
  /** Namespace of the release; created where it does not exist. @default - the name */
  readonly namespace?: string | undefined;
  /** Name in the repository, `oci://…`, or a path such as `./charts/app`, relative to the project's root. */
  readonly chart: string;
  /** URL of the chart repository. @default - none, for `oci://` charts and paths */
  readonly repository?: string | undefined;
  /** Version of the chart. @default - the newest */
  readonly version?: string | undefined;
  /** Values of the chart. They are in plan and state: no secrets. @default - the chart's */
  readonly values?: Readonly<Record<string, unknown>> | string | undefined;
  /**
   * Files with further values, which may be secret, relative to the project's root; only their hash is in plan and
   * state.
   * @default - none
   */
  readonly valuesFiles?: readonly string[] | undefined;
  /** Credentials of a private repository or registry, without the password. @default - none */
  readonly credentials?: AddonCredentials | undefined;
  /**
   * Whether it brings the pod network of a cluster with `cni` `none`: it is installed first, and all nodes become
   * ready with it.
   * @default false
   */
  readonly cni?: boolean | undefined;
  /** Add-ons of this cluster that must be ready before it; constructs add them first. @default - none */
  readonly after?: readonly string[] | undefined;
  /** Wait until it is ready, and roll back where it does not become ready. @default true */
  readonly wait?: boolean | undefined;
  /** How long it may take. Milliseconds. @default 600000 */
  readonly timeout?: number | undefined;
}

/** Credentials of a chart repository or registry. Set one of `passwordEnv` and `passwordFile`. */
export interface AddonCredentials {
  /** User of the repository or registry. */
  readonly username: string;
  /** Environment variable that holds the password. @default - none */
  readonly passwordEnv?: string | undefined;
  /** File that holds the password, relative to the project's root. @default - none */
  readonly passwordFile?: string | undefined;
}

/** A bucket of AWS or of an S3-compatible store. */
export interface BackupBucketProps {
  /** Name of the bucket. */
  readonly bucket: string;
  /** Beginning of every object's name, without a slash at its end. @default - the cluster's name */
  readonly prefix?: string | undefined;
  /** AWS region. @default - the AWS configuration's */
  readonly region?: string | undefined;
  /** URL of an S3-compatible store. @default - AWS */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is in the path of URLs rather than in the host name. @default - true where `endpoint` is set */
  readonly pathStyle?: boolean | undefined;
  /** Encryption by the store: `AES256` or `aws:kms`. @default - the bucket's */
  readonly sse?: "AES256" | "aws:kms" | undefined;
  /** Key for `aws:kms`. @default - the account's key for S3 */
  readonly kmsKeyId?: string | undefined;
  /** AWS profile. @default - the AWS credential chain, including the instance role */
  readonly profile?: string | undefined;
}
