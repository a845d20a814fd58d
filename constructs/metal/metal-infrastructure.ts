// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { renderMeta } from "../../cloud-init/index.ts";
import { type MetalNetwork, metalPatches, type Role, staticAddress } from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { given } from "../../talos/given.ts";
import type { SchematicChoice } from "../../talos/image/index.ts";
import { checkParts } from "../check.ts";
import type { Infrastructure, Machine, MachineRequest, MachineSet, PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";

/** An existing machine. */
export interface MetalMachineProps {
  /** Address of its Talos API, in maintenance mode and later. */
  readonly address: string;
  /** Disk that Talos is installed on, such as `/dev/nvme0n1`. @default - the infrastructure's */
  readonly disk?: string | undefined;
  /** The same, by properties of the disk. @default - the infrastructure's */
  readonly diskSelector?: DiskSelectorProps | undefined;
  /** Installer image. @default - from version and schematic */
  readonly image?: string | undefined;
  /** What is added to this machine's Talos image. @default - the cluster's */
  readonly schematic?: SchematicChoice | undefined;
  /** Wipe the whole disk before installing. @default - the infrastructure's */
  readonly wipe?: boolean | undefined;
  /** Fingerprint of its certificate in maintenance mode, as its console shows it. @default - none */
  readonly fingerprint?: string | undefined;
  /** Whether it had its config before. If it loses it, it gets none until `fingerprint` is set. @default false */
  readonly adopted?: boolean;
  /** Network link that has the address, by name. @default - found by Talos */
  readonly link?: string | undefined;
  /** The same, by the link's MAC address. @default - found by Talos */
  readonly mac?: string | undefined;
  /** Templates of META values by key, over the infrastructure's. @default - none */
  readonly meta?: Readonly<Record<string, string>>;
}

/** Which disk, by its properties. All that are set have to match; texts may hold `*`. */
export interface DiskSelectorProps {
  /** Such as `>= 200GB`. @default - any */
  readonly size?: string | undefined;
  /** Model, such as `WDC*`. @default - any */
  readonly model?: string | undefined;
  /** Serial number. @default - any */
  readonly serial?: string | undefined;
  /** Kind of device, as the kernel names it. @default - any */
  readonly modalias?: string | undefined;
  /** UUID of the disk. @default - any */
  readonly uuid?: string | undefined;
  /** World wide identifier, such as `naa.5000c500*`. @default - any */
  readonly wwid?: string | undefined;
  /** Kind of disk. @default - any */
  readonly type?: "ssd" | "hdd" | "nvme" | "sd" | undefined;
  /** Where it is plugged in, such as `/pci0000:00/*`. @default - any */
  readonly busPath?: string | undefined;
}

/** Network settings in the machine configs. */
export interface MetalNetworkProps {
  /** Network of the machines: their addresses are static then. @default - addresses from DHCP */
  readonly cidr?: string | undefined;
  /** Default route of static addresses. @default - none */
  readonly gateway?: string | undefined;
  /** Name servers. @default - from DHCP, else Talos's default */
  readonly nameservers?: readonly string[];
  /** Address that the control planes share; the cluster's endpoint is on it. @default - none */
  readonly vip?: string | undefined;
}

/** The machines, and what they have in common. */
export interface MetalInfrastructureProps {
  /** The machines by host name; pools name the ones that are theirs. */
  readonly machines: { readonly [hostname: string]: MetalMachineProps };
  /** Apply the initial config, which holds the CA keys, to machines without a fingerprint. @default false */
  readonly trustOnFirstUse?: boolean;
  /** Disk of machines that set none, by its properties. @default - `installDisk` */
  readonly diskSelector?: DiskSelectorProps | undefined;
  /** Wipe the whole disk before installing. @default false */
  readonly wipe?: boolean;
  /** Templates of META values for all machines, by key. @default - none */
  readonly meta?: { readonly [key: string]: string };
  /** Static addresses and a shared one. @default - DHCP, and none */
  readonly network?: MetalNetworkProps;
  /** Disk of machines that set none. @default /dev/sda */
  readonly installDisk?: string | undefined;
}

interface RenderedMachine extends Pick<MetalMachineProps, "address" | "fingerprint" | "mac" | "link" | "disk"> {
  readonly patches: readonly string[];
  readonly meta: { readonly [key: string]: string } | undefined;
}

/** Machines that somebody else made and booted into maintenance mode, by their addresses. */
export class MetalInfrastructure extends Construct implements Infrastructure<object> {
  readonly kind = "metal";
  readonly platform = "metal";
  readonly certSans: readonly string[];
  readonly trustOnFirstUse: boolean;
  readonly machinesMove = true;
  /** Address that the control planes share, where there is one. */
  readonly vip: string | undefined;
  readonly #network: MetalNetwork;
  readonly #props: MetalInfrastructureProps;
  readonly #places = new Map<string, { readonly cluster: string; readonly role: Role; readonly pool?: string }>();

  constructor(scope: Construct, id: string, props: MetalInfrastructureProps) {
    super(scope, id);
    const machines = withRoles(props.machines, () => ({ role: "worker" }));
    checkParts({ kind: this.kind, infrastructure: { ...props, machines } }, false, () => this);
    this.#props = props;
    this.#network = { nameservers: [], ...props.network };
    this.vip = this.#network.vip;
    this.certSans = this.vip === undefined ? [] : [this.vip];
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
  }

  createMachines(_pool: Construct, request: PoolRequest<object>): MachineSet {
    const { rows } = request;
    const rendered = new Map(rows.machines.map((machine) => [machine.key, this.#render(machine, request)]));
    const of = ({ key }: MachineRequest) => rendered.get(key) as RenderedMachine;
    const isGivenIn = (name: keyof RenderedMachine) => rows.machines.some((machine) => of(machine)[name] !== undefined);
    const column = (name: "fingerprint" | "mac" | "link" | "disk") =>
      isGivenIn(name) ? rows.column(name, (machine) => of(machine)[name] ?? null) : undefined;
    // Also of a pool without machines: the block of all members has it from the first pool.
    const address = rows.column("address", (machine) => of(machine).address);
    const fingerprint = column("fingerprint");
    for (const name of ["mac", "link", "disk"] as const) column(name);
    const patches = rows.shared("patches", (machine) => of(machine).patches);
    const meta = isGivenIn("meta") ? rows.shared("meta", (machine) => of(machine).meta ?? {}) : undefined;
    return {
      resources: [],
      address,
      // A machine at another address is another machine.
      identity: address,
      fingerprint: (at) => fingerprint?.(at),
      patches,
      meta: (at) => meta?.(at),
    };
  }

  settings(clusterName: string): object {
    const own = Object.entries(this.#props.machines).filter(
      ([name]) => this.#places.get(name)?.cluster === clusterName,
    );
    const machines = withRoles(Object.fromEntries(own), (name) => {
      const { cluster: _, ...place } = this.#places.get(name) ?? { cluster: "", role: "worker" };
      return place;
    });
    return { ...this.#props, machines };
  }

  endpoint(controlPlanes: readonly Machine[]): string {
    const host = this.vip ?? controlPlanes[0]?.address;
    if (host === undefined) refuse(this, "no endpoint; expected a VIP or a control plane");
    return endpointAt(host);
  }

  #render(
    request: MachineRequest,
    { clusterName, talosVersion, configContract, imageFactory }: PoolRequest<object>,
  ): RenderedMachine {
    const { name, role } = request;
    const props = this.#props.machines[name];
    if (props === undefined)
      refuse(this, `there is no machine ${name}; expected one of ${Object.keys(this.#props.machines).join(", ")}`);
    this.#places.set(name, {
      cluster: clusterName,
      role,
      ...given({ pool: role === "worker" ? request.pool : undefined }),
    });
    const { diskSelector, wipe, installDisk } = this.#props;
    const network = this.#network;
    const machine = { ...props, role };
    const { address, fingerprint, mac, link, disk } = props;
    const known = { hostname: name, role, cluster: clusterName, address, mac, link, ...networkValues(network) };
    const values = { ...known, cidr: staticAddress({ machine, network }) };
    const meta = renderMeta(values, this.#props.meta ?? {}, props.meta ?? {});
    return {
      ...{ address, fingerprint, mac, link, disk },
      patches: metalPatches({
        talosVersion,
        configContract,
        machine,
        network,
        diskSelector,
        wipe,
        installDisk,
        imageFactory,
      }),
      meta: Object.keys(meta).length === 0 ? undefined : meta,
    };
  }
}

function withRoles(
  machines: MetalInfrastructureProps["machines"],
  placeOf: (name: string) => { readonly role: Role; readonly pool?: string },
): object {
  return Object.fromEntries(Object.entries(machines).map(([name, props]) => [name, { ...props, ...placeOf(name) }]));
}

function networkValues({ gateway, nameservers }: MetalNetwork) {
  return { gateway, nameservers: nameservers.length === 0 ? undefined : nameservers };
}
