// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { stringify } from "yaml";
import { hashNoCloudIso, type NoCloudFiles } from "../../cloud-init/index.ts";
import { formatSize } from "../../model/index.ts";
import { given } from "../../talos/given.ts";
import type { Architecture } from "../../talos/image/index.ts";
import type { MachineReference, MachineRequest, MachineRows, MachineSet, MachineValue } from "../cluster/index.ts";
import { type MachineConfigSettings, TalosmithResource } from "../talosmith/bindings.ts";
import { type BindingMeta, expression, projectPath, ReplacementTrigger } from "../terraform/index.ts";
import { type DomainArguments, type InterfaceArguments, LibvirtResource } from "./bindings.ts";
import type { StartImages } from "./start-images.ts";

/** Where a machine is in its network, and what tells it so. */
export interface MachinePlace {
  readonly address: string;
  readonly mac: string;
  readonly seed: NoCloudFiles;
}

export interface LibvirtMachinesProps {
  readonly rows: MachineRows;
  readonly placeOf: (machine: MachineRequest) => MachinePlace;
  /** Folder of the seeds' ISOs, relative to the project's root. */
  readonly seedFolder: string;
  /** What a config in the seed follows from, and who has the secrets for it. @default - none: the machine waits for it */
  readonly config?: {
    readonly from: (at: MachineReference) => MachineConfigSettings;
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
  /** Folder on the host for what machines write to their serial consoles. @default - none is kept */
  readonly consoleLogFolder: string | undefined;
  /** The KVM host, as libvirt names it. */
  readonly uri: string;
  /** Address that these machines share. @default - none */
  readonly vip: string | undefined;
}

/** BIOS, or UEFI with its files on the host. */
export type Firmware = "bios" | { readonly loader: string; readonly nvramTemplate: string };

const mebibyte = 2 ** 20;

type Volume = LibvirtResource<"libvirt_volume">;

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

/** Virtual machines, each a copy-on-write disk, a seed that gives it its address, and the domain. */
export function createLibvirtMachines(scope: Construct, props: LibvirtMachinesProps): MachineSet {
  const { rows, placeOf, vip } = props;
  const places = new Map(rows.machines.map((machine) => [machine.key, placeOf(machine)]));
  const place = ({ key }: MachineRequest) => places.get(key) as MachinePlace;
  const address = rows.column("address", (machine) => place(machine).address);
  const mac = rows.column("mac", (machine) => place(machine).mac);
  const seed = rows.column("seed", (machine) => hashNoCloudIso(place(machine).seed).slice(0, 12));
  const disk = createDisks(scope, props);
  const iso = createSeeds(scope, props, seed, disk, (machine) => place(machine).seed);
  const extra = props.extraDisks.map(
    ({ size, storagePool }, index) =>
      new LibvirtResource(
        scope,
        `data-${index + 1}`,
        "libvirt_volume",
        {
          name: `${rows.each.name}-data-${index + 1}.qcow2`,
          pool: storagePool,
          capacity: size,
          target: { format: { type: "qcow2" } },
        },
        { forEach: rows.forEach },
      ),
  );
  const domain = domainArguments(rows.each, mac(rows.each), props, disk, iso, extra);
  const growth = growDisks(scope, props, disk);
  const hardware = createHardware(scope, props, seed(rows.each), mac(rows.each));
  const resource = new LibvirtResource(scope, "Resource", "libvirt_domain", domain, {
    forEach: rows.forEach,
    lifecycle: {
      // A domain from before there was a console, or with another log, gets it when it is replaced for another reason.
      ignoreChanges: ["devices.serials"],
      // A disk grows after the domain that uses it was destroyed, and before the new one is created.
      replaceTriggeredBy: [hardware, growth].map(({ terraformAddress }) => `${terraformAddress}[each.key]`),
    },
  });
  const vipPatch =
    vip === undefined ? undefined : rows.shared("vip_patch", (machine) => sharedAddress(place(machine).mac, vip));
  return {
    resources: [resource],
    address,
    // The disk, not the domain: a machine that gets more memory is still a member.
    identity: ({ key }) => disk.instance(key, "id"),
    hardwareId: ({ key }) => hardware.instance(key, "id"),
    diskSize: props.disk,
    patches: (at) => (vipPatch === undefined ? [] : [vipPatch(at)]),
  };
}

/** The provider updates a running domain by stopping it and then fails: replacing it is clean and keeps the disks. */
function createHardware(scope: Construct, props: LibvirtMachinesProps, seed: string, mac: string): ReplacementTrigger {
  const { cpu: vcpu, domainType: type, autostart, disk, firmware } = props;
  return new ReplacementTrigger(
    scope,
    "hardware",
    {
      ...{ vcpu, memory: inMebibytes(props.memory), type, autostart, seed, mac, disk },
      extra_disks: props.extraDisks.map(({ size, storagePool }) => `${storagePool}:${size}`),
      loader: firmware === "bios" ? firmware : firmware.loader,
      architecture: props.architecture === "amd64" ? undefined : props.architecture,
      network: Object.values(props.source).map((source) => Object.values(source).join())[0] ?? "",
    },
    { forEach: props.rows.forEach },
  );
}

const inMebibytes = (bytes: number) => Math.ceil(bytes / mebibyte);

function sizeOf({ disk, architecture }: LibvirtMachinesProps): string {
  return `${formatSize(disk)}${architecture === "amd64" ? "" : `-${architecture}`}`;
}

function createDisks(scope: Construct, props: LibvirtMachinesProps): Volume {
  const { rows } = props;
  // Another processor cannot run what is on the disk. Not part of `hardware`: images are shared by pools, so that a plan
  // with -target for a machine of one pool would stop machines of the others.
  const trigger = new ReplacementTrigger(scope, "architecture", props.architecture, { forEach: rows.forEach });
  const replaceTriggeredBy = [`${trigger.terraformAddress}[each.key]`];
  const image = props.images.forDisks(scope, rows, sizeOf(props), replaceTriggeredBy);
  return new LibvirtResource(
    scope,
    "disk",
    "libvirt_volume",
    {
      name: `${rows.each.name}.qcow2`,
      pool: props.storagePool,
      capacity: props.disk,
      target: { format: { type: "qcow2" } },
      backing_store: { path: image.path, format: { type: image.format } },
    },
    // The provider refuses to change a volume; its size is changed by what growDisks makes.
    { forEach: rows.forEach, lifecycle: { ignoreChanges: ["capacity"], replaceTriggeredBy } },
  );
}

/** Fails with libvirt's own words, once the domain is off: a volume in use can't be resized this way. */
const resizeCommand = 'virsh -c "$URI" vol-resize --pool "$POOL" "$VOLUME" "$CAPACITY"';

/**
 * Enlarges existing disks. The provider reports the capacity that a volume was created with, so that virsh is needed for
 * growth alone. Talos takes the room when it boots.
 */
function growDisks(scope: Construct, props: LibvirtMachinesProps, disk: Volume): ReplacementTrigger {
  const { rows, disk: size, uri, architecture } = props;
  const { key } = rows.each;
  const capacity = `${disk.terraformAddress}[${key}].capacity`;
  return new ReplacementTrigger(scope, "disk-size", architecture === "amd64" ? size : sizeOf(props), {
    forEach: rows.forEach,
    provisioners: [
      {
        type: "local-exec",
        command: expression(`${capacity} < ${size} ? ${JSON.stringify(resizeCommand)} : "true"`),
        environment: {
          URI: uri,
          POOL: disk.instance(key, "pool"),
          VOLUME: disk.instance(key, "name"),
          CAPACITY: `${size}`,
        },
      },
    ],
  });
}

function createSeeds(
  scope: Construct,
  { rows, seedFolder, storagePool, config }: LibvirtMachinesProps,
  hash: MachineValue,
  disk: Volume,
  seedOf: (machine: MachineRequest) => NoCloudFiles,
): Volume {
  const { each, forEach } = rows;
  const path = `${seedFolder}/${each.name}.iso`;
  const text = (file: keyof NoCloudFiles, column: string) =>
    rows.machines.some((machine) => seedOf(machine)[file] !== undefined)
      ? rows.shared(column, (machine) => seedOf(machine)[file] ?? "")(each)
      : undefined;
  const files = {
    path,
    meta_data: text("meta-data", "meta_data") ?? "",
    network_config: text("network-config", "network_config") ?? "",
    ...given({ user_data: text("user-data", "user_data") }),
  };
  // Not part of the hash: a changed config reaches a running machine over the API, not by a new seed.
  const seed = () => ({ ...files, ...given({ machine_config: config?.from(each) }) });
  const file = new TalosmithResource(scope, "seed", "talosmith_cloud_init", seed, { ...config?.bindingMeta, forEach });
  // Volumes are replaced by name only, hence the hash in it; the file is read when the volume is made, and only then.
  // No format: libvirt finds it out, and while volumes are made side by side it tells "raw" at first, which fails the apply.
  return new LibvirtResource(
    scope,
    "iso",
    "libvirt_volume",
    {
      name: `${each.name}-${hash(each)}.iso`,
      pool: storagePool,
      create: { content: { url: projectPath(path) } },
    },
    {
      forEach,
      dependsOn: [file],
      lifecycle: {
        // Volumes made by 0.1.0 have a format.
        ignoreChanges: ["create", "target"],
        // A new disk takes its config from the seed, which must not bring back CAs from before a rotate-ca.
        ...given({ replaceTriggeredBy: config && [`${disk.terraformAddress}[each.key]`] }),
      },
    },
  );
}

function domainArguments(
  { key, name }: MachineReference,
  mac: string,
  props: LibvirtMachinesProps,
  disk: Volume,
  seed: Volume,
  extra: readonly Volume[],
): DomainArguments {
  const { firmware } = props;
  const board = boards[props.architecture];
  const volumeOf = (block: Volume) => ({
    volume: { pool: block.instance(key, "pool"), volume: block.instance(key, "name") },
  });
  const attach = (block: Volume, dev: string) =>
    ({
      device: "disk",
      driver: { name: "qemu", type: "qcow2" },
      source: volumeOf(block),
      target: { dev, bus: "virtio" },
    }) as const;
  // firmware = "efi" is read back differently than it was written, so the files are named.
  const loader = firmware !== "bios" && {
    loader: firmware.loader,
    loader_type: "pflash" as const,
    loader_readonly: "yes" as const,
    nv_ram: { nv_ram: `/var/lib/libvirt/qemu/nvram/${name}_VARS.fd`, template: firmware.nvramTemplate },
  };
  return {
    name,
    type: props.domainType,
    vcpu: props.cpu,
    memory: inMebibytes(props.memory),
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
      ...loader,
    },
    devices: {
      ...given({ controllers: board.controllers }),
      disks: [
        attach(disk, "vda"),
        ...extra.map((volume, index) => attach(volume, `vd${String.fromCharCode("b".charCodeAt(0) + index)}`)),
        {
          device: "cdrom",
          driver: { name: "qemu", type: "raw" },
          source: volumeOf(seed),
          target: { dev: "sda", bus: board.cdrom },
          read_only: true,
        },
      ],
      interfaces: [{ model: { type: "virtio" }, mac: { address: mac }, source: props.source }],
      serials: [{ target: { port: 0 }, ...given({ log: consoleLog(props.consoleLogFolder, name) }) }],
    },
  };
}

/** QEMU's own log is <name>.log, in a folder that people would take for this one. */
function consoleLog(folder: string | undefined, name: string) {
  return folder === undefined ? undefined : ({ file: `${folder}/${name}-console.log`, append: "on" } as const);
}

/** The control planes elect who answers for the shared address; the link is found by its MAC. */
function sharedAddress(mac: string, ip: string): string {
  return stringify({ machine: { network: { interfaces: [{ deviceSelector: { hardwareAddr: mac }, vip: { ip } }] } } });
}
