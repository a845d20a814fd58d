// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { Cidr, placeMachine } from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { checkParts } from "../check.ts";
import { type Infrastructure, Machine, type MachineRequest, type PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import {
  DockerContainerResource,
  DockerNetworkResource,
  DockerProvider,
  DockerVolumeResource,
} from "./docker-bindings.ts";
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
  /** Name of the cluster that will run here; part of the network's name. */
  readonly clusterName: string;
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
        /** Address of the host. */
        readonly address: string;
        /** Port for the Kubernetes API. */
        readonly kubernetes: number;
        /** Port for the Talos API. */
        readonly talos: number;
      }
    | undefined;
}

const mebibyte = 2 ** 20;

/** A machine in a container: two volumes that make it what it is, and the container around them. */
class DockerMachine extends Machine {
  readonly bootMedium = "container";
  readonly address: string;
  readonly resource: DockerContainerResource;
  /** The volume, not the container: with it, a container of a newer image is the same machine. */
  readonly identity: string;

  constructor(
    scope: Construct,
    request: MachineRequest,
    props: {
      readonly address: string;
      readonly image: string;
      readonly network: string;
      readonly settings: ContainerPoolSettings;
      readonly ports: readonly { readonly internal: number; readonly external: number; readonly ip: string }[];
    },
  ) {
    super(scope, request);
    const { name } = request;
    this.address = props.address;
    const state = new DockerVolumeResource(this, "state", { name: `${name}-state` });
    const ephemeral = new DockerVolumeResource(this, "ephemeral", { name: `${name}-ephemeral` });
    this.identity = state.id;
    const { cpu, memory } = props.settings.limits ?? {};
    this.resource = new DockerContainerResource(
      this,
      "Resource",
      {
        name,
        hostname: name,
        image: props.image,
        env: ["PLATFORM=container"],
        privileged: true,
        read_only: true,
        cgroupns_mode: "private",
        security_opts: ["seccomp=unconfined", "label=disable"],
        sysctls: { "net.ipv6.conf.all.disable_ipv6": "0" },
        restart: "unless-stopped",
        ...(memory === undefined ? {} : { memory: Math.ceil(memory / mebibyte) }),
        ...(cpu === undefined ? {} : { cpus: String(typeof cpu === "number" ? cpu : Number.parseInt(cpu, 10) / 1000) }),
        mounts: [
          ...temporaryPaths.map((target) => ({ type: "tmpfs" as const, target })),
          { type: "volume", target: statePath, source: state.volumeName },
          { type: "volume", target: variablePath, source: ephemeral.volumeName },
          ...rewrittenPaths.map((target) => ({ type: "volume" as const, target })),
        ],
        networks_advanced: [{ name: props.network, ipv4_address: props.address }],
        ...(props.ports.length === 0 ? {} : { ports: props.ports }),
      },
      // A newer image would replace every container at once, etcd and all: one by one, with -replace.
      { lifecycle: { ignoreChanges: ["image"] } },
    );
  }
}

/** Talos in containers of a Docker daemon, with fixed addresses. */
export class DockerInfrastructure extends Construct implements Infrastructure<ContainerPoolSettings> {
  readonly kind = "container";
  readonly platform = "metal";
  readonly trustOnFirstUse: boolean;
  readonly certSans: readonly string[];
  readonly #props: DockerInfrastructureProps;
  readonly #network: DockerNetworkResource;

  constructor(scope: Construct, id: string, props: DockerInfrastructureProps) {
    super(scope, id);
    this.#props = props;
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
    checkParts({ kind: this.kind, infrastructure: this.settings() }, false, () => this);
    const { cidr = "10.5.0.0/24", clusterName, publish } = props;
    const gateway = Cidr.tryParse(cidr)?.host(1);
    if (gateway === undefined) refuse(this, `cidr is ${cidr}; expected a network such as 10.5.0.0/24`);
    this.certSans = publish === undefined ? [] : [publish.address];
    new DockerProvider(this, "docker", { host: props.host });
    const ipam = [{ subnet: cidr, gateway }];
    this.#network = new DockerNetworkResource(this, "network", {
      name: `talos-${clusterName}`,
      driver: "bridge",
      ipam_config: ipam,
    });
  }

  createMachines(scope: Construct, request: PoolRequest<ContainerPoolSettings>): readonly Machine[] {
    const { settings, talosVersion } = request;
    const { cidr = "10.5.0.0/24", controlPlaneOffset = 2, workerOffset = 20, publish } = this.#props;
    return request.machines.map((machine) => {
      const first = settings.addressOffset ?? (machine.role === "controlplane" ? controlPlaneOffset : workerOffset);
      const network = { cidr, controlPlaneOffset, workerOffset };
      const { address, offset } = placeMachine(network, machine.role, first, machine.index);
      if (address === undefined)
        refuse(scope, `${machine.name} would be at place ${offset} of ${cidr}, which has no such host`);
      const published = machine.role === "controlplane" && machine.index === 1 ? publish : undefined;
      const ports =
        published === undefined
          ? []
          : [
              { internal: 6443, external: published.kubernetes, ip: published.address },
              { internal: 50000, external: published.talos, ip: published.address },
            ];
      const image = this.#props.image ?? talosImage(talosVersion);
      return new DockerMachine(scope, machine, { address, image, network: this.#network.networkName, settings, ports });
    });
  }

  settings(): object {
    const { clusterName: _, image, trustOnFirstUse, ...docker } = this.#props;
    return { engine: "docker", image, trustOnFirstUse, docker };
  }

  endpoint(controlPlanes: readonly Machine[]): string {
    const [first] = controlPlanes;
    if (first === undefined) refuse(this, "no endpoint; expected a control plane");
    return endpointAt(first.address);
  }
}
