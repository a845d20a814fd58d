// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { renderMeta } from "../../cloud-init/index.ts";
import {
  type DiskSelector,
  type MetalMachineSettings,
  type MetalNetwork,
  metalPatches,
  type Role,
  staticAddress,
} from "../../model/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { checkParts } from "../check.ts";
import { type Infrastructure, Machine, type MachineRequest, type PoolRequest } from "../cluster/index.ts";
import { refuse } from "../errors.ts";

/** A machine that is there already. */
export type MetalMachineProps = Pick<MetalMachineSettings, "address"> &
  Partial<Omit<MetalMachineSettings, "address" | "role" | "pool" | "patches">>;

export interface MetalInfrastructureProps {
  /** The machines by host name; pools name the ones that are theirs. */
  readonly machines: { readonly [hostname: string]: MetalMachineProps };
  /** Send the first config, which holds secrets, to machines without a fingerprint. @default false */
  readonly trustOnFirstUse?: boolean;
  /** Disk of machines that name none. @default - the cluster's installDisk */
  readonly diskSelector?: DiskSelector | undefined;
  /** Empty the disk before installing. @default false */
  readonly wipe?: boolean;
  /** Templates of META values for all machines, by key. @default - none */
  readonly meta?: { readonly [key: string]: string };
  /** Static addresses and a shared one. @default - DHCP, and none */
  readonly network?: Partial<MetalNetwork>;
  /** @default /dev/sda */
  readonly installDisk?: string | undefined;
}

interface RenderedSettings extends Pick<MetalMachineProps, "address" | "fingerprint"> {
  readonly patches: readonly string[];
  readonly meta: { readonly [key: string]: string };
}

/** A machine by its address. Nothing makes it, and nothing but the cluster has to do with it. */
export class MetalMachine extends Machine {
  readonly bootMedium = "maintenance";
  readonly address: string;
  readonly resource = undefined;
  readonly #settings: RenderedSettings;

  constructor(scope: Construct, request: MachineRequest, settings: RenderedSettings) {
    super(scope, request, request.name);
    this.address = settings.address;
    this.#settings = settings;
  }

  override get fingerprint(): string | undefined {
    return this.#settings.fingerprint;
  }

  override get patches(): readonly string[] {
    return this.#settings.patches;
  }

  override get meta(): { readonly [key: string]: string } {
    return this.#settings.meta;
  }

  /** A machine at another address is another machine. */
  get identity(): string {
    return this.address;
  }
}

/** Machines that somebody else made and booted into maintenance mode, by their addresses. */
export class MetalInfrastructure extends Construct implements Infrastructure<object> {
  readonly kind = "metal";
  readonly platform = "metal";
  readonly certSans: readonly string[];
  readonly trustOnFirstUse: boolean;
  readonly network: MetalNetwork;
  readonly #props: MetalInfrastructureProps;
  /** Machines stand here and not below their pools: one that moves to another pool is the same machine. */
  readonly #machines: Construct;
  readonly #places = new Map<string, { readonly cluster: string; readonly role: Role; readonly pool?: string }>();

  constructor(scope: Construct, id: string, props: MetalInfrastructureProps) {
    super(scope, id);
    const machines = withRoles(props.machines, () => ({ role: "worker" }));
    checkParts({ kind: this.kind, infrastructure: { ...props, machines } }, false, () => this);
    this.#props = props;
    this.network = { nameservers: [], ...props.network };
    this.certSans = this.network.vip === undefined ? [] : [this.network.vip];
    this.trustOnFirstUse = props.trustOnFirstUse ?? false;
    this.#machines = new Construct(this, "machine");
  }

  createMachines(_pool: Construct, request: PoolRequest<object>): readonly Machine[] {
    return request.machines.map((machine) => this.#createMachine(machine, request));
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
    const host = this.network.vip ?? controlPlanes[0]?.address;
    if (host === undefined) refuse(this, "no endpoint; expected a VIP or a control plane");
    return endpointAt(host);
  }

  #createMachine(request: MachineRequest, { clusterName, talosVersion, imageFactory }: PoolRequest<object>): Machine {
    const { name, role } = request;
    const props = this.#props.machines[name];
    if (props === undefined)
      refuse(this, `there is no machine ${name}; expected one of ${Object.keys(this.#props.machines).join(", ")}`);
    const pool = role === "worker" ? { pool: request.pool } : {};
    this.#places.set(name, { cluster: clusterName, role, ...pool });
    const { diskSelector, wipe, installDisk } = this.#props;
    const { network } = this;
    const machine = { ...props, role };
    const { address, mac, link } = props;
    const known = { hostname: name, role, cluster: clusterName, address, mac, link, ...networkValues(network) };
    return new MetalMachine(this.#machines, request, {
      ...props,
      patches: metalPatches({
        talosVersion: talosVersion.toString(),
        machine,
        network,
        diskSelector,
        wipe,
        installDisk,
        imageFactory,
      }),
      meta: renderMeta(
        { ...known, cidr: staticAddress({ machine, network }) },
        this.#props.meta ?? {},
        props.meta ?? {},
      ),
    });
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
