// SPDX-License-Identifier: Apache-2.0
import { posix } from "node:path";
import type { TerraformProvider } from "cdktn";
import { Construct } from "constructs";
import { type NoCloudTemplates, renderNoCloud } from "../../cloud-init/index.ts";
import {
  Cidr,
  gatewayOf,
  type LibvirtNetwork,
  nameserversOf,
  placeMachine,
  type Size,
  usualMacPrefix,
} from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { given } from "../../talos/given.ts";
import { type Architecture, assetUrl, chosenSchematic, schematicId } from "../../talos/image/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { bytesOf, checkParts } from "../check.ts";
import type { Infrastructure, Machine, MachineRequest, MachineSet, PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import { chooseProvider, providerFor } from "../terraform/index.ts";
import { LibvirtProvider, LibvirtResource } from "./bindings.ts";
import { createLibvirtMachines, type Firmware, type MachinePlace } from "./libvirt-machines.ts";
import { StartImages } from "./start-images.ts";

/** Settings of a pool of virtual machines. */
export interface LibvirtPoolSettings {
  /** Virtual processors. @default 2 */
  readonly cpu?: number;
  /** Memory, such as `8GiB`. @default 4GiB */
  readonly memory?: Size;
  /** System disk, such as `50GiB`. @default 20GiB */
  readonly disk?: Size;
  /** Further empty disks, as /dev/vdb and on. @default - none */
  readonly extraDisks?: readonly {
    /** Size, such as `100GiB`. */
    readonly size: Size;
    /** Storage pool of the disk. @default - the machine's */
    readonly storagePool?: string | undefined;
  }[];
  /** Storage pool of the disks. @default - the infrastructure's */
  readonly storagePool?: string | undefined;
  /** Path or URL of the image to start from. @default - the infrastructure's */
  readonly image?: string | undefined;
  /** Processor architecture. @default - the infrastructure's */
  readonly architecture?: Architecture | undefined;
  /** Where the addresses begin in the network. @default - the network's offset, for the first worker pool */
  readonly addressOffset?: number | undefined;
}

/** Network of virtual machines. Addresses are fixed; none comes from DHCP. */
export interface LibvirtNetworkProps {
  /** Join a bridge of the host, or create a NAT network. @default bridge */
  readonly mode?: "bridge" | "nat";
  /** Bridge of the host that the machines join, with mode `bridge`. @default br0 */
  readonly bridge?: string;
  /** Network of the machines. @default 10.0.0.0/24 */
  readonly cidr?: string;
  /** Default route of the machines. @default - the first host of the network */
  readonly gateway?: string | undefined;
  /** Name servers of the machines. @default - the gateway */
  readonly nameservers?: readonly string[] | undefined;
  /** Position of the first control plane in the network. @default 70 */
  readonly controlPlaneOffset?: number;
  /** Position of the first worker in the network. @default 80 */
  readonly workerOffset?: number;
  /** Address that the control planes share; the cluster's endpoint is on it. @default - none */
  readonly vip?: string | undefined;
  /** First half of the machines' MAC addresses. @default 52:54:00 */
  readonly macPrefix?: string;
}

/** The KVM host, and what its virtual machines have in common. */
export interface LibvirtInfrastructureProps {
  /** What names of the network and the images end with; needed where one host has two infrastructures. @default - id of the scope */
  readonly clusterName?: string;
  /** Provider block of yours for this host. @default - one is written, with an alias where the stack has another one */
  readonly provider?: TerraformProvider;
  /** The KVM host, as libvirt names it. @default qemu:///system */
  readonly uri?: string;
  /** Path or URL of an unpacked image. @default - the image factory's, by Talos release and schematic */
  readonly image?: string | undefined;
  /** Name of a storage pool, or name and path of one to create. @default default */
  readonly storagePool?:
    | string
    | {
        /** Name of the pool to create. */
        readonly name: string;
        /** Folder on the host. */
        readonly path: string;
      };
  /** `qemu` uses software emulation, where KVM is unavailable. @default kvm */
  readonly domainType?: "kvm" | "qemu";
  /** Processor architecture of pools that set none. @default amd64 */
  readonly architecture?: Architecture;
  /** `uefi` takes Debian's paths of the firmware. @default - bios, or uefi on arm64 */
  readonly firmware?:
    | "bios"
    | "uefi"
    | {
        /** Path of the firmware on the host. */
        readonly loader: string;
        /** Path of the template of its variables on the host. */
        readonly nvramTemplate: string;
      }
    | undefined;
  /** Start the machines with the host. @default true */
  readonly autostart?: boolean;
  /** Folder on the host where libvirt keeps what each machine writes to its serial console. @default - none is kept */
  readonly consoleLogFolder?: string | undefined;
  /** Network of the machines. @default - the bridge br0 with 10.0.0.0/24 */
  readonly network?: LibvirtNetworkProps;
  /** How machines get their first config: over the Talos API, or from their seed. @default api */
  readonly machineConfig?: "api" | "user-data";
  /** Apply the initial config, which holds the CA keys, to whatever answers at a machine's address. @default false */
  readonly trustOnFirstUse?: boolean;
  /** Templates in place of talosmith's own. @default - talosmith's */
  readonly cloudInit?: NoCloudTemplates;
  /** Folder for the seeds, relative to the project's root. @default generated/cloud-init */
  readonly seedFolder?: string;
}

/** A network of virtual machines: one that libvirt has, or a bridge of the host. */
export interface LibvirtNetworkReference {
  /** Name of the libvirt network, a reference. @default - the machines join a bridge */
  readonly name?: string;
  /** Bridge of the host. @default - the machines join a libvirt network */
  readonly bridge?: string;
  /** Its addresses. */
  readonly cidr: string;
  /** Its default route. */
  readonly gateway: string;
}

/** A storage pool. */
export interface LibvirtStoragePool {
  /** Its name; a reference where it is created. */
  readonly name: string;
}

const usualNetwork = {
  mode: "bridge",
  bridge: "br0",
  cidr: "10.0.0.0/24",
  controlPlaneOffset: 70,
  workerOffset: 80,
  macPrefix: usualMacPrefix,
} as const;

const debianFirmware = {
  amd64: { loader: "/usr/share/OVMF/OVMF_CODE_4M.fd", nvramTemplate: "/usr/share/OVMF/OVMF_VARS_4M.fd" },
  arm64: { loader: "/usr/share/AAVMF/AAVMF_CODE.fd", nvramTemplate: "/usr/share/AAVMF/AAVMF_VARS.fd" },
} as const;

/** Virtual machines on a KVM host, with fixed addresses and no DHCP. */
export class LibvirtInfrastructure extends Construct implements Infrastructure<LibvirtPoolSettings> {
  readonly certSans: readonly string[];
  readonly installDisk = "/dev/vda";
  readonly trustOnFirstUse: boolean;
  readonly configSource: "api" | "user-data";
  readonly kind = "libvirt";
  readonly platform = "nocloud";
  /** Address that the control planes share, where there is one. */
  readonly vip: string | undefined;
  /** The provider block of its resources. */
  readonly provider: TerraformProvider;
  /** The network that the machines join. */
  readonly network: LibvirtNetworkReference;
  /** The storage pool of disks and images. */
  readonly pool: LibvirtStoragePool;
  readonly #network: LibvirtNetwork;
  readonly #props: LibvirtInfrastructureProps;
  readonly #images = new Map<string, StartImages>();
  readonly #owners = new Map<string, string>();

  constructor(scope: Construct, id: string, props: LibvirtInfrastructureProps = {}) {
    super(scope, id);
    checkParts({ kind: this.kind, infrastructure: props }, false, () => this);
    this.#props = props;
    this.#network = { ...usualNetwork, ...props.network };
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
    this.configSource = props.cloudInit?.userData === undefined ? (props.machineConfig ?? "api") : "user-data";
    this.vip = this.#network.vip;
    this.certSans = this.vip === undefined ? [] : [this.vip];
    for (const [owner, address] of [
      ["the gateway", gatewayOf(this.#network)],
      ["the VIP", this.vip],
    ] as const)
      if (address !== undefined) this.#claim(address, owner);
    this.provider = providerFor(
      this,
      "libvirt",
      props.provider ?? ((alias) => new LibvirtProvider(this, "libvirt", { uri: this.#uri }, alias)),
    );
    this.pool = { name: this.#createStoragePool(props.storagePool ?? "default") };
    this.network = this.#createNetwork();
  }

  createMachines(scope: Construct, request: PoolRequest<LibvirtPoolSettings>): MachineSet {
    const { settings, rows, role, configSettings: from, bindingMeta } = request;
    chooseProvider(scope, this.provider);
    const storagePool = settings.storagePool ?? this.pool.name;
    const { bridge, name: network } = this.network;
    const architecture = this.#architectureOf(settings);
    return createLibvirtMachines(scope, {
      rows,
      placeOf: (machine) => this.#place(scope, machine, settings),
      seedFolder: this.#props.seedFolder ?? "generated/cloud-init",
      cpu: settings.cpu ?? 2,
      memory: bytesOf(scope, "memory", settings.memory ?? "4GiB"),
      disk: bytesOf(scope, "disk", settings.disk ?? "20GiB"),
      extraDisks: (settings.extraDisks ?? []).map(({ size, storagePool: own = storagePool }, index) => ({
        size: bytesOf(scope, `extraDisks[${index}].size`, size),
        storagePool: own,
      })),
      storagePool,
      images: this.#imagesFor(scope, request),
      ...given({ config: this.#props.machineConfig === "user-data" ? { from, bindingMeta } : undefined }),
      source: network === undefined ? { bridge: { bridge: bridge ?? "" } } : { network: { network } },
      domainType: this.#props.domainType ?? "kvm",
      architecture,
      firmware: this.#firmwareFor(architecture),
      autostart: this.#props.autostart ?? true,
      consoleLogFolder: this.#props.consoleLogFolder,
      uri: this.#uri,
      vip: role === "controlplane" ? this.#network.vip : undefined,
    });
  }

  settings(): object {
    return this.#props;
  }

  get #name(): string {
    return this.#props.clusterName ?? this.node.scope?.node.id ?? this.node.id;
  }

  get #uri(): string {
    return this.#props.uri ?? "qemu:///system";
  }

  endpoint(controlPlanes: readonly Machine[]): string {
    const host = this.#network.vip ?? controlPlanes[0]?.address;
    if (host === undefined) refuse(this, "no endpoint; expected a VIP or a control plane");
    return endpointAt(host);
  }

  #place(scope: Construct, { name, role, index }: MachineRequest, settings: LibvirtPoolSettings): MachinePlace {
    const { controlPlaneOffset, workerOffset, cidr } = this.#network;
    const first = settings.addressOffset ?? (role === "controlplane" ? controlPlaneOffset : workerOffset);
    const { address, mac, offset } = placeMachine(this.#network, role, first, index);
    if (address === undefined) refuse(scope, `${name} would be at place ${offset} of ${cidr}, which has no such host`);
    this.#claim(address, name);
    const seed = renderNoCloud(
      {
        hostname: name,
        instanceId: name,
        mac,
        address: `${address}/${Cidr.parse(cidr).prefix}`,
        gateway: gatewayOf(this.#network),
        nameservers: nameserversOf(this.#network),
      },
      this.#props.cloudInit,
    );
    return { address, mac, seed };
  }

  #claim(address: string, owner: string): void {
    const other = this.#owners.get(address);
    if (other !== undefined) refuse(this, `${address} would be ${owner}'s and ${other}'s; expected one owner`);
    this.#owners.set(address, owner);
  }

  #createStoragePool(pool: string | { readonly name: string; readonly path: string }): string {
    if (typeof pool === "string") return pool;
    const { name, path } = pool;
    const create = { build: true, start: true, autostart: true };
    const args = { name, type: "dir", target: { path }, create } as const;
    return new LibvirtResource(this, "pool", "libvirt_pool", args).attribute("name");
  }

  #createNetwork(): LibvirtNetworkReference {
    const { mode, bridge, cidr } = this.#network;
    const common = { cidr, gateway: gatewayOf(this.#network) };
    if (mode === "bridge") return { ...common, bridge };
    const network = new LibvirtResource(this, "network", "libvirt_network", {
      name: `talos-${this.#name}`,
      autostart: true,
      forward: { mode: "nat" },
      ips: [{ address: gatewayOf(this.#network), prefix: Cidr.parse(cidr).prefix }],
    });
    return { ...common, name: network.attribute("name") };
  }

  #architectureOf({ architecture }: LibvirtPoolSettings): Architecture {
    return architecture ?? this.#props.architecture ?? "amd64";
  }

  #firmwareFor(architecture: Architecture): Firmware {
    const { firmware = architecture === "arm64" ? "uefi" : "bios" } = this.#props;
    if (firmware === "bios" && architecture === "arm64")
      refuse(this, "firmware is bios; expected uefi, for arm64 has no BIOS");
    return firmware === "uefi" ? debianFirmware[architecture] : firmware;
  }

  /** Pools that start from the same image in the same place share its volume. */
  #imagesFor(
    scope: Construct,
    { settings, talosVersion, schematic, imageFactory: factory }: PoolRequest<LibvirtPoolSettings>,
  ): StartImages {
    const id = schematicId(chosenSchematic(schematic));
    const architecture = this.#architectureOf(settings);
    const version = TalosVersion.parse(talosVersion);
    const origin = { schematic: id, version, platform: this.platform, architecture } as const;
    const usual = assetUrl("qcow2", { ...origin, ...given({ factory }) });
    const own = settings.image ?? this.#props.image;
    const url = own ?? usual;
    const pool = settings.storagePool ?? this.pool.name;
    const key = JSON.stringify([url, pool]);
    const known = this.#images.get(key);
    if (known !== undefined) return known;
    const usualKind = architecture === (this.#props.architecture ?? "amd64");
    const shared = settings.image === undefined && pool === this.pool.name && usualKind;
    const images = new StartImages(shared ? this : scope, {
      name: shared ? `talos-${this.#name}` : `talos-${this.#name}-${scope.node.id}`,
      pool,
      url,
      label:
        own === undefined
          ? `${talosVersion}${architecture === "amd64" ? "" : "-arm64"}`
          : posix.basename(own).replace(/\.\w+$/, ""),
    });
    this.#images.set(key, images);
    return images;
  }
}
