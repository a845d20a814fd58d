// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";

export interface ClusterMachineArguments {
  readonly role: "controlplane" | "worker";
  readonly address: string;
  /** Fingerprint of the certificate in maintenance mode, where it is known beforehand. */
  readonly fingerprint?: string;
  /** Of its `talosmith_member`, which comes before the cluster and goes after it. */
  readonly member_id?: string;
  /** Of what is replaced when the machine has to be stopped. */
  readonly hardware_id?: string;
  /** Talos config patches for this machine, in the order they are applied. */
  readonly patches?: readonly string[];
  /** Files with further patches, which hold secrets. */
  readonly patch_files?: readonly string[];
  /** Values of its META partition by key. */
  readonly meta?: { readonly [key: string]: string };
}

export interface ClusterRolloutArguments {
  /** A number of workers, or a share such as `25%`. */
  readonly max_unavailable?: string;
  readonly drain_timeout?: string;
  /** `fail`, `delete` or `leave`. */
  readonly stuck_pods?: string;
  readonly revert_failed_upgrades?: boolean;
  /** `full` or `api`. */
  readonly health_level?: string;
  /** Each has a command or a URL. */
  readonly gates?: readonly {
    readonly command?: readonly string[];
    readonly url?: string;
    readonly timeout?: string;
  }[];
  readonly windows?: readonly { readonly schedule: string; readonly duration: string; readonly time_zone?: string }[];
  /** `afterwards`: `stop` or `continue`. */
  readonly canary?: { readonly machines: number; readonly soak?: string; readonly afterwards?: string };
}

export interface ClusterArguments {
  readonly name: string;
  readonly endpoint: string;
  readonly talos_version: string;
  readonly kubernetes_version: string;
  /** Machine name to machine. */
  readonly machines: { readonly [name: string]: ClusterMachineArguments };
  readonly dns_domain?: string;
  readonly pod_subnets?: readonly string[];
  readonly service_subnets?: readonly string[];
  /** `flannel`, `none` or `custom`. */
  readonly cni?: string;
  readonly cni_urls?: readonly string[];
  readonly kubespan?: boolean;
  readonly discovery?: boolean;
  readonly allow_scheduling_on_control_planes?: boolean;
  readonly additional_sans?: readonly string[];
  readonly install_disk?: string;
  readonly install_image?: string;
  /** The control plane of another stack that these workers join. */
  readonly join?: { readonly control_planes: readonly string[] };
  /** Where the Talos API of all machines is reached, when it is not at each machine's own address. */
  readonly talos_endpoints?: readonly string[];
  /** Send the first config to machines whose fingerprint is not known. */
  readonly trust_on_first_use?: boolean;
  /** How careful changes of machines in use are. */
  readonly rollout?: ClusterRolloutArguments;
  readonly registry_mirrors?: { readonly [host: string]: readonly string[] };
  /** What the machines run on; never changes. */
  readonly infrastructure_kind?: string;
  /** `reset`, `keep` or `prevent`. */
  readonly on_destroy?: string;
}

/** A whole cluster: all of its machines in one resource. */
export class ClusterResource extends Resource<ClusterArguments> {
  constructor(scope: Construct, id: string, args: Arguments<ClusterArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_cluster", args, meta);
  }

  get endpoint(): string {
    return this.getStringAttribute("endpoint");
  }
}
