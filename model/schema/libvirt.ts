// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlaneFields, poolFields, workerFields } from "./cluster.ts";
import { address, cidr, count, deletionProtection, name, size, trustOnFirstUse } from "./values.ts";

const gibibyte = 2 ** 30;
const poolName = z.string().regex(/^[A-Za-z0-9_.-]+$/, { error: "the name of a libvirt storage pool" });
const image = z
  .string()
  .min(1)
  .regex(/^[^\n]*\.(qcow2|raw|img)$/, {
    error: "the path or URL of a qcow2 or raw image, unpacked",
  });

const architecture = z.enum(["amd64", "arm64"]);

const hardware = {
  architecture: architecture.optional().describe("Processor of this pool's machines. Default: the infrastructure's."),
  cpu: count(1, 512).default(2).describe("Virtual processors."),
  memory: size.prefault("4GiB").describe("Memory, such as 4GiB."),
  disk: size.prefault("20GiB").describe("System disk, such as 20GiB."),
  extraDisks: z
    .array(
      z.strictObject({
        size: size.describe("Such as 100GiB."),
        storagePool: poolName.optional().describe("Default: that of the machine."),
      }),
    )
    .max(20)
    .default([])
    .describe("Further empty disks, as /dev/vdb and on."),
  storagePool: poolName.optional().describe("Storage pool of this pool's disks. Default: the infrastructure's."),
  image: image.optional().describe("Image that this pool's machines start from. Default: the infrastructure's."),
};

const worker = z.strictObject({
  ...workerFields,
  ...hardware,
  addressOffset: count(1, 65_534)
    .optional()
    .describe("Where this pool's addresses begin in the network. Default: network.workerOffset, for the first pool."),
  ...poolFields,
});

const network = z
  .strictObject({
    mode: z.enum(["bridge", "nat"]).default("bridge").describe("Join a bridge of the host, or make a NAT network."),
    bridge: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,15}$/, { error: "the name of a network bridge, at most 15 characters" })
      .default("br0")
      .describe("Bridge on the host that the machines join (mode bridge)."),
    cidr: cidr.default("10.0.0.0/24").describe("The machines' network."),
    gateway: address.optional().describe("Default: the first host of the network."),
    nameservers: z.array(address).min(1).optional().describe("Default: the gateway."),
    controlPlaneOffset: count(1, 65_534).default(70).describe("First control plane's place in the network."),
    workerOffset: count(1, 65_534).default(80).describe("First worker's place in the network."),
    vip: address.optional().describe("Address that the control planes share; the cluster's endpoint is on it."),
    macPrefix: z
      .string()
      .regex(/^[0-9a-f][02468ace](:[0-9a-f]{2}){2}$/, {
        error: "three bytes of a MAC address in lower case, the first of them even, such as 52:54:00",
      })
      .default("52:54:00")
      .describe("First half of the machines' MAC addresses. Environments on one bridge need different ones."),
  })
  .prefault({})
  .describe("How the machines are reached. Addresses are fixed, none comes from DHCP.");

/** Virtual machines of a KVM host, here or over ssh. */
export const libvirt = {
  kind: "libvirt",
  infrastructure: z.strictObject({
    kind: z.literal("libvirt").describe("Virtual machines of a KVM host."),
    uri: z
      .string()
      .regex(/^qemu(\+(ssh|sshcmd|tcp|tls))?:\/\/\S*$/, { error: "a libvirt URI such as qemu+ssh://root@host/system" })
      .default("qemu:///system")
      .describe("The KVM host, as libvirt names it."),
    image: image
      .optional()
      .describe("Image that machines start from. Default: the image factory's, by version and schematic."),
    storagePool: z
      .union(
        [
          poolName,
          z.strictObject({
            name: name.describe("Name of the pool to make."),
            path: z.string().regex(/^\//, { error: "an absolute path on the host" }).describe("Folder on the host."),
          }),
        ],
        {
          error: "the name of a storage pool, or { name, path } of one to make",
        },
      )
      .default("default")
      .describe("Where disks are kept. With a path, the pool is made."),
    domainType: z.enum(["kvm", "qemu"]).default("kvm").describe("qemu emulates the processor: slow, works everywhere."),
    architecture: architecture
      .default("amd64")
      .describe("Processor of machines whose pool says nothing else; with KVM it is the host's."),
    firmware: z
      .union(
        [
          z.enum(["bios", "uefi"]),
          z.strictObject({
            loader: z.string().min(1).describe("Firmware image on the host."),
            nvramTemplate: z.string().min(1).describe("Template of its variables on the host."),
          }),
        ],
        {
          error: "bios, uefi, or { loader, nvramTemplate } with paths on the host",
        },
      )
      .optional()
      .describe("Firmware of the machines. Default: bios, or uefi on arm64."),
    deletionProtection,
    autostart: z.boolean().default(true).describe("Start the machines with the host."),
    consoleLogFolder: z
      .string()
      .regex(/^\/.*[^/]$/, { error: "an absolute path on the host, without / at its end" })
      .optional()
      .describe(
        "Folder on the host where libvirt keeps what each machine writes to its serial console, as <machine>-console.log; it must exist. Default: none is kept.",
      ),
    network,
    machineConfig: z
      .enum(["api", "user-data"])
      .default("api")
      .describe(
        "How a machine gets its first config: over the Talos API while it waits, or from its seed, which holds secrets then.",
      ),
    trustOnFirstUse,
    cloudInit: z
      .strictObject({
        metaData: z.string().min(1).optional().describe("Template file for meta-data."),
        networkConfig: z.string().min(1).optional().describe("Template file for network-config."),
        userData: z
          .string()
          .min(1)
          .optional()
          .describe("Template file for user-data. Default: none, the config comes over the API."),
      })
      .prefault({})
      .describe("Handlebars templates to use in place of talosmith's own, as paths from this file."),
  }),
  controlPlane: z.strictObject({ ...controlPlaneFields, ...hardware, ...poolFields }),
  worker,
  workers: z.array(worker).prefault([{}]),
} as const;

/** What Talos asks for at least, by role. */
export const minimumHardware = {
  controlplane: { cpu: 2, memory: 2 * gibibyte, disk: 10 * gibibyte },
  worker: { cpu: 1, memory: gibibyte, disk: 10 * gibibyte },
} as const;
