// SPDX-License-Identifier: Apache-2.0
// The part of dmacvicar/libvirt 0.9 that we use; test/constructs/conformance.test.ts holds it against the real schema.
import type { Construct } from "constructs";
import { type BindingMeta, Provider, Resource } from "../terraform/index.ts";

export class LibvirtProvider extends Provider<{ readonly uri: string }> {
  constructor(scope: Construct, id: string, args: { readonly uri: string }, alias?: string) {
    super(scope, id, { name: "libvirt", source: "dmacvicar/libvirt", version: "~> 0.9.7" }, args, alias);
  }
}

interface PoolArguments {
  readonly name: string;
  readonly type: "dir";
  readonly target: { readonly path: string };
  readonly create?: { readonly build?: boolean; readonly start?: boolean; readonly autostart?: boolean };
}

interface NetworkArguments {
  readonly name: string;
  readonly autostart?: boolean;
  readonly bridge?: { readonly name?: string };
  readonly forward?: { readonly mode: "nat" };
  readonly ips?: readonly { readonly address: string; readonly prefix: number }[];
}

interface VolumeArguments {
  readonly name: string;
  readonly pool: string;
  /** In bytes. */
  readonly capacity?: number;
  readonly target?: { readonly format: { readonly type: "qcow2" | "raw" } };
  readonly backing_store?: { readonly path: string; readonly format: { readonly type: string } };
  readonly create?: { readonly content: { readonly url: string } };
}

interface DiskArguments {
  readonly device?: "disk" | "cdrom";
  readonly driver?: { readonly name: "qemu"; readonly type: "qcow2" | "raw" };
  readonly source: { readonly volume: { readonly pool: string; readonly volume: string } };
  readonly target: { readonly dev: string; readonly bus: "virtio" | "sata" | "scsi" };
  readonly read_only?: boolean;
}

interface ControllerArguments {
  readonly type: "scsi";
  readonly index: number;
  readonly model: "virtio-scsi";
}

/** Without a source, libvirt makes a pseudo-terminal: what `virsh console` connects to. */
interface SerialArguments {
  readonly target: { readonly port: number };
  readonly log?: { readonly file: string; readonly append: "on" };
}

export interface InterfaceArguments {
  readonly model: { readonly type: "virtio" };
  readonly mac: { readonly address: string };
  readonly source:
    | { readonly bridge: { readonly bridge: string } }
    | { readonly network: { readonly network: string } };
}

export interface DomainArguments {
  readonly name: string;
  readonly type: "kvm" | "qemu";
  readonly vcpu: number;
  readonly memory: number;
  readonly memory_unit: "MiB";
  readonly running: boolean;
  readonly autostart: boolean;
  readonly cpu: { readonly mode: "host-passthrough" | "maximum" };
  readonly features: { readonly acpi: boolean };
  readonly os: {
    readonly type: "hvm";
    readonly type_arch: string;
    readonly type_machine: "q35" | "virt";
    readonly boot_devices: readonly { readonly dev: "hd" | "cdrom" }[];
    readonly loader?: string;
    readonly loader_type?: "pflash";
    readonly loader_readonly?: "yes";
    readonly nv_ram?: { readonly nv_ram: string; readonly template: string };
  };
  readonly devices: {
    readonly controllers?: readonly ControllerArguments[];
    readonly disks: readonly DiskArguments[];
    readonly interfaces: readonly InterfaceArguments[];
    readonly serials: readonly SerialArguments[];
  };
}

export interface LibvirtResources {
  libvirt_pool: PoolArguments;
  libvirt_network: NetworkArguments;
  libvirt_volume: VolumeArguments;
  libvirt_domain: DomainArguments;
}

/** Any resource of dmacvicar/libvirt that we use; its type decides its arguments. */
export class LibvirtResource<T extends keyof LibvirtResources> extends Resource<LibvirtResources[T]> {
  constructor(scope: Construct, id: string, type: T, args: LibvirtResources[T], meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }
}
