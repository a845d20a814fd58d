// SPDX-License-Identifier: Apache-2.0
// The part of hashicorp/kubernetes 2 that we use; test/constructs/conformance.test.ts holds it against the schema.
import type { Construct } from "constructs";
import { type BindingMeta, Provider, Resource } from "../terraform/index.ts";

export interface KubernetesProviderArguments {
  readonly config_path: string;
  readonly config_context?: string | undefined;
}

export class KubernetesProvider extends Provider<KubernetesProviderArguments> {
  constructor(scope: Construct, id: string, args: KubernetesProviderArguments, alias?: string) {
    super(scope, id, { name: "kubernetes", source: "hashicorp/kubernetes", version: "~> 2.38" }, args, alias);
  }
}

type Labels = { readonly [name: string]: string };

interface MetadataArguments {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Labels;
}

interface ServiceArguments {
  readonly metadata: MetadataArguments;
  readonly spec: {
    readonly type: "ClusterIP" | "LoadBalancer";
    readonly selector: Labels;
    readonly publish_not_ready_addresses: boolean;
    readonly port: readonly { readonly name: string; readonly port: number; readonly target_port: string }[];
  };
}

/** Where a service has its address, by type. */
export const addressAttributes = {
  ClusterIP: "spec[0].cluster_ip",
  LoadBalancer: "status[0].load_balancer[0].ingress[0].ip",
} as const satisfies Record<ServiceArguments["spec"]["type"], string>;

type Quantities = { readonly cpu?: string; readonly memory?: string };

interface PodVolumeArguments {
  readonly name: string;
  readonly empty_dir: { readonly medium?: "Memory" };
}

export interface StatefulSetArguments {
  readonly metadata: MetadataArguments;
  /** A machine without its config is not ready, and gets it only after Terraform goes on. */
  readonly wait_for_rollout: boolean;
  readonly spec: {
    readonly replicas: string;
    readonly service_name: string;
    readonly selector: { readonly match_labels: Labels };
    readonly persistent_volume_claim_retention_policy: {
      readonly when_deleted: "Delete";
      readonly when_scaled: "Retain";
    };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly automount_service_account_token: boolean;
        readonly termination_grace_period_seconds: number;
        readonly container: {
          readonly name: string;
          readonly image: string;
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly security_context: { readonly privileged: boolean; readonly read_only_root_filesystem: boolean };
          readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
          readonly volume_mount: readonly { readonly name: string; readonly mount_path: string }[];
        };
        readonly volume: readonly PodVolumeArguments[];
      };
    };
    readonly volume_claim_template: readonly {
      readonly metadata: { readonly name: string };
      readonly spec: {
        readonly access_modes: readonly ["ReadWriteOnce"];
        readonly storage_class_name?: string;
        readonly resources: { readonly requests: { readonly storage: string } };
      };
    }[];
  };
}

export interface KubernetesResources {
  kubernetes_namespace_v1: { readonly metadata: MetadataArguments };
  kubernetes_service_v1: ServiceArguments;
  kubernetes_stateful_set_v1: StatefulSetArguments;
}

/** Any resource of hashicorp/kubernetes that we use; its type decides its arguments. */
export class KubernetesResource<T extends keyof KubernetesResources> extends Resource<KubernetesResources[T]> {
  constructor(scope: Construct, id: string, type: T, args: KubernetesResources[T], meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }
}
