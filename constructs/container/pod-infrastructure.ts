// SPDX-License-Identifier: Apache-2.0
import { type TerraformProvider, TerraformStack } from "cdktn";
import { Construct } from "constructs";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { given } from "../../talos/given.ts";
import { checkParts } from "../check.ts";
import type { Infrastructure, MachineSet, PoolRequest } from "../cluster/index.ts";
import { chooseProvider, providerFor } from "../terraform/index.ts";
import { addressAttributes, KubernetesProvider, KubernetesResource } from "./kubernetes-bindings.ts";
import { statefulSetArguments } from "./stateful-set.ts";
import { type ContainerPoolSettings, talosImage } from "./talos-container.ts";

/** The host cluster, and the namespace of the pods. */
export interface PodInfrastructureProps {
  /** Name of the cluster that will run here. @default - id of the stack */
  readonly clusterName?: string;
  /** Provider block of yours for the host cluster. @default - one is written, with an alias where the stack has another one */
  readonly provider?: TerraformProvider;
  /** Apply the initial config, which holds the CA keys, to whatever answers at a machine's address. @default false */
  readonly trustOnFirstUse?: boolean;
  /** kubeconfig of the host cluster. @default ~/.kube/config */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. @default - the current one */
  readonly context?: string | undefined;
  /** Namespace to create. @default - talos-<cluster> */
  readonly namespace?: string | undefined;
  /** Reached from inside the host cluster, or from outside. @default ClusterIP */
  readonly service?: "ClusterIP" | "LoadBalancer";
  /** StorageClass of the volumes. @default - the host cluster's default */
  readonly storageClass?: string | undefined;
  /** Talos image. @default - the Talos release's */
  readonly image?: string | undefined;
}

const ports = {
  talos: { name: "talos", port: 50000, target_port: "50000" },
  trustd: { name: "trustd", port: 50001, target_port: "50001" },
  kubernetes: { name: "kubernetes", port: 6443, target_port: "6443" },
} as const;

/** A namespace of a Kubernetes. */
export interface KubernetesNamespace {
  /** Its name, a reference. */
  readonly name: string;
}

/** Talos as pods of another Kubernetes. */
export class PodInfrastructure extends Construct implements Infrastructure<ContainerPoolSettings> {
  readonly kind = "container";
  readonly platform = "metal";
  readonly trustOnFirstUse: boolean;
  readonly certSans: readonly string[];
  /** The provider block of its resources. */
  readonly provider: TerraformProvider;
  /** The namespace of the pods. */
  readonly namespace: KubernetesNamespace;
  readonly #props: PodInfrastructureProps;
  readonly #clusterName: string;
  readonly #endpoint: string;

  constructor(scope: Construct, id: string, props: PodInfrastructureProps) {
    super(scope, id);
    this.#props = props;
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
    checkParts({ kind: this.kind, infrastructure: this.settings() }, false, () => this);
    const { clusterName = TerraformStack.of(this).node.id, service = "ClusterIP" } = props;
    this.#clusterName = clusterName;
    const host = { config_path: props.kubeconfig ?? "~/.kube/config", config_context: props.context };
    this.provider = providerFor(
      this,
      "kubernetes",
      props.provider ?? ((alias) => new KubernetesProvider(this, "kubernetes", host, alias)),
    );
    const name = new KubernetesResource(this, "namespace", "kubernetes_namespace_v1", {
      metadata: {
        name: props.namespace ?? `talos-${clusterName}`,
        // Talos is an operating system: its pods need what privileged ones may.
        labels: { "pod-security.kubernetes.io/enforce": "privileged" },
      },
    }).attribute("metadata[0].name");
    this.namespace = { name };
    const endpoint = new KubernetesResource(this, "endpoint", "kubernetes_service_v1", {
      metadata: { name: `${clusterName}-endpoint`, namespace: name },
      spec: {
        type: service,
        selector: labelsOf(clusterName, "controlplane"),
        publish_not_ready_addresses: false,
        port: [ports.kubernetes, ports.talos],
      },
    });
    this.#endpoint = endpoint.attribute(addressAttributes[service]);
    this.certSans = [this.#endpoint];
  }

  /** Machines as pods: each a stateful set of one, and a service that gives it an address for life. */
  createMachines(
    scope: Construct,
    { settings, talosVersion, rows, role }: PoolRequest<ContainerPoolSettings>,
  ): MachineSet {
    chooseProvider(scope, this.provider);
    const { service: type = "ClusterIP", storageClass } = this.#props;
    const image = this.#props.image ?? talosImage(talosVersion);
    const { name: namespace } = this.namespace;
    const { each, forEach } = rows;
    const labels = labelsOf(this.#clusterName, role, each.name);
    const services = new KubernetesResource(
      scope,
      "service",
      "kubernetes_service_v1",
      {
        metadata: { name: each.name, namespace },
        spec: {
          type,
          selector: labels,
          // A machine in maintenance mode is what has to be reached.
          publish_not_ready_addresses: true,
          port: role === "controlplane" ? [ports.talos, ports.trustd, ports.kubernetes] : [ports.talos],
        },
      },
      { forEach },
    );
    const machines = new KubernetesResource(
      scope,
      "Resource",
      "kubernetes_stateful_set_v1",
      statefulSetArguments(scope, { name: each.name, namespace, labels, image, storageClass, settings }),
      // A newer image would restart every machine at once, etcd and all: one by one, with -replace.
      {
        forEach,
        dependsOn: [services],
        lifecycle: { ignoreChanges: ["spec[0].template[0].spec[0].container[0].image"] },
      },
    );
    const address: MachineSet["address"] = ({ key }) => services.instance(key, addressAttributes[type]);
    return {
      resources: [machines],
      address,
      // Its volumes go with the stateful set.
      identity: ({ key }) => machines.instance(key, "metadata[0].uid"),
      // The pod knows its own address only, and is reached at the service's.
      patches: (at) => [`machine:\n  certSANs:\n    - ${address(at)}\n`],
    };
  }

  settings(): object {
    const { clusterName: _, provider: __, image, trustOnFirstUse, ...kubernetes } = this.#props;
    return { engine: "kubernetes", image, trustOnFirstUse, kubernetes };
  }

  endpoint(): string {
    return endpointAt(this.#endpoint);
  }
}

function labelsOf(cluster: string, role: string, machine?: string): { readonly [name: string]: string } {
  return {
    "app.kubernetes.io/name": "talos",
    "talosmith/cluster": cluster,
    "talosmith/role": role,
    ...given({ "talosmith/machine": machine }),
  };
}
