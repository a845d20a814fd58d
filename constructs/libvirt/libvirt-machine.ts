// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { stringify } from "yaml";
import { createNoCloudIso, hashIso, type NoCloudFiles } from "../../cloud-init/index.ts";
import { formatSize } from "../../model/index.ts";
import { given } from "../../talos/given.ts";
import type { Architecture } from "../../talos/image/index.ts";
import { Machine, type MachineRequest } from "../cluster/index.ts";
import { CloudInitResource, type MachineConfigSettings } from "../talosmith/index.ts";
import { type BindingMeta, projectPath, ReplacementTrigger } from "../terraform/index.ts";
import { type DomainArguments, DomainResource, type InterfaceArguments, VolumeResource } from "./bindings.ts";
import type { StartImages } from "./start-images.ts";

export interface LibvirtMachineProps {
  readonly address: string;
  readonly mac: string;
  readonly seed: NoCloudFiles;
  /** Where the seed's ISO is written, relative to the project's root. */
  readonly seedPath: string;
  /** What a config in the seed follows from, and who has the secrets for it. @default - none: the machine waits for it */
  readonly config?: {
    readonly from: (machine: Machine) => MachineConfigSettings;
    readonly bindingMeta: BindingMeta;
  };
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes. */
  readonly disk: number;
  readonly extraDisks: readonly { readonly size: number; readonly storagePool: string }[];
  readonly storagePool: string;
  readonly images: StartImages;
  readonly source: InterfaceArguments["source"];
  readonly domainType: "kvm" | "qemu";
  readonly architecture: Architecture;
  readonly firmware: Firmware;
  readonly autostart: boolean;
  /** Address that the control planes share. */
  readonly vip: string | undefined;
}

/** BIOS, or UEFI with its files on the host. */
export type Firmware = "bios" | { readonly loader: string; readonly nvramTemplate: string };

const mebibyte = 2 ** 20;

/** QEMU's machine for a processor, and the bus on which it has a drive for the seed. */
const boards = {
  amd64: { arch: "x86_64", machine: "q35", cdrom: "sata", controllers: undefined },
  // Left to itself libvirt takes an LSI controller here, an old one; virtio's is what virtual machines have.
  arm64: {
    arch: "aarch64",
    machine: "virt",
    cdrom: "scsi",
    controllers: [{ type: "scsi", index: 0, model: "virtio-scsi" }],
  },
} as const;

/** A virtual machine: a copy-on-write disk, a seed that gives it its address, and the domain. */
export class LibvirtMachine extends Machine {
  readonly bootMedium = "disk-image";
  readonly address: string;
  readonly resource: DomainResource;
  /** The disk, not the domain: a machine that gets more memory is still a member. */
  readonly identity: string;
  readonly #hardware: ReplacementTrigger;
  readonly #vipPatch: string | undefined;

  constructor(scope: Construct, request: MachineRequest, props: LibvirtMachineProps) {
    super(scope, request);
    this.address = props.address;
    if (props.vip !== undefined && request.role === "controlplane") this.#vipPatch = vipPatch(props.mac, props.vip);

    const seedHash = hashIso(createNoCloudIso(props.seed)).slice(0, 12);
    const disk = this.#createDisk(props);
    this.identity = disk.id;
    const seed = this.#createSeed(props, seedHash, disk);
    const extra = props.extraDisks.map(
      ({ size, storagePool }, index) =>
        new VolumeResource(this, `data-${index + 1}`, {
          name: `${this.name}-data-${index + 1}.qcow2`,
          pool: storagePool,
          capacity: size,
          target: { format: { type: "qcow2" } },
        }),
    );
    const domain = domainArguments(this.name, props, disk, seed, extra);
    // The provider updates a running domain by stopping it and then fails: replacing it is clean and keeps the disks.
    const { vcpu, memory, type, autostart, os } = domain;
    this.#hardware = new ReplacementTrigger(this, "hardware", {
      ...{ vcpu, memory, type, autostart, seed: seedHash, mac: props.mac, disk: props.disk },
      extra_disks: props.extraDisks.map(({ size, storagePool }) => `${storagePool}:${size}`),
      loader: os.loader ?? "bios",
      ...(props.architecture === "amd64" ? {} : { architecture: props.architecture }),
      network: Object.values(props.source).map((source) => Object.values(source).join())[0] ?? "",
    });
    this.resource = new DomainResource(this, "Resource", domain, {
      lifecycle: { replaceTriggeredBy: [this.#hardware.terraformAddress] },
    });
  }

  override get hardwareId(): string {
    return this.#hardware.id;
  }

  override get patches(): readonly string[] {
    return this.#vipPatch === undefined ? [] : [this.#vipPatch];
  }

  #createDisk(props: LibvirtMachineProps): VolumeResource {
    // Another processor cannot run what is on the disk.
    const size = `${formatSize(props.disk)}${props.architecture === "amd64" ? "" : `-${props.architecture}`}`;
    const trigger = new ReplacementTrigger(this, "disk-size", props.architecture === "amd64" ? props.disk : size);
    const image = props.images.forDisk(this, size);
    return new VolumeResource(
      this,
      "disk",
      {
        name: `${this.name}.qcow2`,
        pool: props.storagePool,
        capacity: props.disk,
        target: { format: { type: "qcow2" } },
        backing_store: { path: image.path, format: { type: image.format } },
      },
      // A volume cannot be resized in place.
      { lifecycle: { replaceTriggeredBy: [trigger.terraformAddress] } },
    );
  }

  #createSeed(props: LibvirtMachineProps, hash: string, disk: VolumeResource): VolumeResource {
    const { config } = props;
    const seed = () => ({
      path: props.seedPath,
      meta_data: props.seed["meta-data"],
      network_config: props.seed["network-config"],
      ...(props.seed["user-data"] === undefined ? {} : { user_data: props.seed["user-data"] }),
      // Not part of the hash: a changed config reaches a running machine over the API, not by a new seed.
      ...(config === undefined ? {} : { machine_config: config.from(this) }),
    });
    const file = new CloudInitResource(this, "seed", seed, config?.bindingMeta);
    // Volumes are replaced by name only, hence the hash in it; the file is read when the volume is made, and only then.
    return new VolumeResource(
      this,
      "iso",
      {
        name: `${this.name}-${hash}.iso`,
        pool: props.storagePool,
        target: { format: { type: "iso" } },
        create: { content: { url: projectPath(props.seedPath) } },
      },
      {
        dependsOn: [file],
        lifecycle: {
          ignoreChanges: ["create"],
          // A new disk takes its config from the seed, which must not bring back CAs from before a rotate-ca.
          ...(config === undefined ? {} : { replaceTriggeredBy: [disk.terraformAddress] }),
        },
      },
    );
  }
}

function domainArguments(
  name: string,
  props: LibvirtMachineProps,
  disk: VolumeResource,
  seed: VolumeResource,
  extra: readonly VolumeResource[],
): DomainArguments {
  const { firmware } = props;
  const board = boards[props.architecture];
  const attach = (volume: VolumeResource, dev: string) =>
    ({
      device: "disk",
      driver: { name: "qemu", type: "qcow2" },
      source: { volume: { pool: volume.pool, volume: volume.volumeName } },
      target: { dev, bus: "virtio" },
    }) as const;
  return {
    name,
    type: props.domainType,
    vcpu: props.cpu,
    memory: Math.ceil(props.memory / mebibyte),
    memory_unit: "MiB",
    running: true,
    autostart: props.autostart,
    // Talos needs x86-64-v2, which QEMU's default processor is not.
    cpu: { mode: props.domainType === "kvm" ? "host-passthrough" : "maximum" },
    features: { acpi: true },
    os: {
      type: "hvm",
      type_arch: board.arch,
      type_machine: board.machine,
      boot_devices: [{ dev: "hd" }],
      // firmware = "efi" is read back differently than it was written, so the files are named.
      ...(firmware === "bios"
        ? {}
        : {
            loader: firmware.loader,
            loader_type: "pflash",
            loader_readonly: "yes",
            nv_ram: { nv_ram: `/var/lib/libvirt/qemu/nvram/${name}_VARS.fd`, template: firmware.nvramTemplate },
          }),
    },
    devices: {
      ...given({ controllers: board.controllers }),
      disks: [
        attach(disk, "vda"),
        ...extra.map((volume, index) => attach(volume, `vd${String.fromCharCode("b".charCodeAt(0) + index)}`)),
        {
          device: "cdrom",
          driver: { name: "qemu", type: "raw" },
          source: { volume: { pool: seed.pool, volume: seed.volumeName } },
          target: { dev: "sda", bus: board.cdrom },
          read_only: true,
        },
      ],
      interfaces: [{ model: { type: "virtio" }, mac: { address: props.mac }, source: props.source }],
    },
  };
}

/** The control planes elect who answers for the shared address; the link is found by its MAC. */
function vipPatch(mac: string, ip: string): string {
  return stringify({ machine: { network: { interfaces: [{ deviceSelector: { hardwareAddr: mac }, vip: { ip } }] } } });
}
