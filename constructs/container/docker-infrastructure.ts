// SPDX-License-Identifier: Apache-2.0
import { type TerraformProvider, TerraformStack } from "cdktn";
import { Construct } from "constructs";
import { Cidr, placeMachine } from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { given } from "../../talos/given.ts";
import { bytesOf, checkParts } from "../check.ts";
import type { Infrastructure, Machine, MachineRows, MachineSet, PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import { chooseProvider, expression, providerFor } from "../terraform/index.ts";
import { type DockerContainerArguments, DockerProvider, DockerResource } from "./docker-bindings.ts";
import {
  type ContainerPoolSettings,
  rewrittenPaths,
  statePath,
  talosImage,
  temporaryPaths,
  variablePath,
} from "./talos-container.ts";

/** The Docker daemon, and the network of its containers. */
export interface DockerInfrastructureProps {
  /** Name of the cluster that will run here; part of the network's name. @default - id of the stack */
  readonly clusterName?: string;
  /** Provider block of yours for this daemon. @default - one is written, with an alias where the stack has another one */
  readonly provider?: TerraformProvider;
  /** Apply the initial config, which holds the CA keys, to whatever answers at a machine's address. @default false */
  readonly trustOnFirstUse?: boolean;
  /** Address of the Docker daemon. @default - the docker command's */
  readonly host?: string | undefined;
  /** Talos image. @default - the Talos release's */
  readonly image?: string | undefined;
  /** Network of the containers. @default 10.5.0.0/24 */
  readonly cidr?: string;
  /** Position of the first control plane in the network. @default 2 */
  readonly controlPlaneOffset?: number;
  /** Position of the first worker in the network. @default 20 */
  readonly workerOffset?: number;
  /** Ports of the host for the first control plane. @default - none */
  readonly publish?:
    | {
        /** Address of the host. @default 127.0.0.1 */
        readonly address?: string;
        /** Port for the Kubernetes API. @default 6443 */
        readonly kubernetes?: number;
        /** Port for the Talos API. @default 50000 */
        readonly talos?: number;
      }
    | undefined;
}

const mebibyte = 2 ** 20;
const usualAddress = "127.0.0.1";

/** The network of the containers. */
export interface DockerNetworkReference {
  /** Its id, a reference. */
  readonly id: string;
  /** Its name, a reference. */
  readonly name: string;
  /** Its addresses. */
  readonly cidr: string;
}

/** Talos in containers of a Docker daemon, with fixed addresses. */
export class DockerInfrastructure extends Construct implements Infrastructure<ContainerPoolSettings> {
  readonly kind = "container";
  readonly platform = "metal";
  readonly trustOnFirstUse: boolean;
  readonly certSans: readonly string[];
  /** The provider block of its resources. */
  readonly provider: TerraformProvider;
  /** The network of the containers. */
  readonly network: DockerNetworkReference;
  readonly #props: DockerInfrastructureProps;

  constructor(scope: Construct, id: string, props: DockerInfrastructureProps) {
    super(scope, id);
    this.#props = props;
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
    checkParts({ kind: this.kind, infrastructure: this.settings() }, false, () => this);
    const { cidr = "10.5.0.0/24", clusterName = TerraformStack.of(this).node.id, publish } = props;
    const gateway = Cidr.tryParse(cidr)?.host(1);
    if (gateway === undefined) refuse(this, `cidr is ${cidr}; expected a network such as 10.5.0.0/24`);
    this.certSans = publish === undefined ? [] : [publish.address ?? usualAddress];
    this.provider = providerFor(
      this,
      "docker",
      props.provider ?? ((alias) => new DockerProvider(this, "docker", { host: props.host }, alias)),
    );
    const ipam = [{ subnet: cidr, gateway }];
    const network = new DockerResource(this, "network", "docker_network", {
      name: `talos-${clusterName}`,
      driver: "bridge",
      ipam_config: ipam,
    });
    this.network = { id: network.id, name: network.attribute("name"), cidr };
  }

  /** Machines in containers: two volumes that make each what it is, and the container around them. */
  createMachines(scope: Construct, request: PoolRequest<ContainerPoolSettings>): MachineSet {
    chooseProvider(scope, this.provider);
    const { settings, talosVersion, rows, role } = request;
    const { each, forEach } = rows;
    const { cidr = "10.5.0.0/24", controlPlaneOffset = 2, workerOffset = 20, publish } = this.#props;
    const network = { cidr, controlPlaneOffset, workerOffset };
    const first = settings.addressOffset ?? (role === "controlplane" ? controlPlaneOffset : workerOffset);
    const address = rows.column("address", ({ name, index }) => {
      const place = placeMachine(network, role, first, index);
      if (place.address === undefined)
        refuse(scope, `${name} would be at place ${place.offset} of ${cidr}, which has no such host`);
      return place.address;
    });
    const volume = (id: string) =>
      new DockerResource(scope, id, "docker_volume", { name: `${each.name}-${id}` }, { forEach });
    const [state, ephemeral] = [volume("state"), volume("ephemeral")];
    const { cpu, memory } = settings.limits ?? {};
    const containers = new DockerResource(
      scope,
      "Resource",
      "docker_container",
      {
        name: each.name,
        hostname: each.name,
        image: this.#props.image ?? talosImage(talosVersion),
        env: ["PLATFORM=container"],
        privileged: true,
        read_only: true,
        cgroupns_mode: "private",
        security_opts: ["seccomp=unconfined", "label=disable"],
        sysctls: { "net.ipv6.conf.all.disable_ipv6": "0" },
        restart: "unless-stopped",
        ...given({
          memory: memory === undefined ? undefined : Math.ceil(bytesOf(scope, "limits.memory", memory) / mebibyte),
          cpus: cpu === undefined ? undefined : String(typeof cpu === "number" ? cpu : Number.parseInt(cpu, 10) / 1000),
        }),
        mounts: [
          ...temporaryPaths.map((target) => ({ type: "tmpfs" as const, target })),
          { type: "volume", target: statePath, source: state.instance(each.key, "name") },
          { type: "volume", target: variablePath, source: ephemeral.instance(each.key, "name") },
          ...rewrittenPaths.map((target) => ({ type: "volume" as const, target })),
        ],
        networks_advanced: [{ name: this.network.name, ipv4_address: address(each) }],
        ...given({ dynamic: role === "controlplane" && publish ? publishedPorts(rows, publish) : undefined }),
      },
      // A newer image would replace every container at once, etcd and all: one by one, with -replace.
      { forEach, lifecycle: { ignoreChanges: ["image"] } },
    );
    return {
      resources: [containers],
      address,
      // The volume, not the container: with it, a container of a newer image is the same machine.
      identity: ({ key }) => state.instance(key, "id"),
    };
  }

  settings(): object {
    const { clusterName: _, provider: __, image, trustOnFirstUse, ...docker } = this.#props;
    return { engine: "docker", image, trustOnFirstUse, docker };
  }

  endpoint(controlPlanes: readonly Machine[]): string {
    const [first] = controlPlanes;
    if (first === undefined) refuse(this, "no endpoint; expected a control plane");
    return endpointAt(first.address);
  }
}

/** The first control plane alone has ports of the host. */
function publishedPorts(
  rows: MachineRows,
  { address = usualAddress, kubernetes = 6443, talos = 50000 }: NonNullable<DockerInfrastructureProps["publish"]>,
): DockerContainerArguments["dynamic"] {
  const own = [
    { internal: 6443, external: kubernetes },
    { internal: 50000, external: talos },
  ];
  const ports = rows.column("ports", ({ index }) => (index === 1 ? own : []));
  return {
    ports: {
      for_each: ports(rows.each),
      content: {
        internal: expression("ports.value.internal"),
        external: expression("ports.value.external"),
        ip: address,
      },
    },
  };
}
