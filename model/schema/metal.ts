// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { patches, poolFields } from "./cluster.ts";
import { schematic } from "./machine-settings.ts";
import { anyAddress, anyCidr, count, deletionProtection, hostOrAddress, name, trustOnFirstUse } from "./values.ts";

const device = z.string().regex(/^\/dev\/\S+$/, { error: "the path of a disk such as /dev/nvme0n1" });
const macAddress = z
  .string()
  .regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i, { error: "a MAC address such as 0c:c4:7a:00:00:01" });
const linkName = z.string().regex(/^[A-Za-z0-9_.:-]{1,15}$/, { error: "the name of a network link such as eth0" });

/** Which disk, by what it is. All that is said has to fit; texts may hold `*`. */
const diskSelector = z
  .strictObject({
    size: z
      .string()
      .regex(/^(<=|>=|<|>|==)?\s*\d+\s*([KMGTP]i?B)$/, { error: 'a size with a comparison such as ">= 200GB"' })
      .optional()
      .describe("Such as >= 200GB."),
    model: z.string().min(1).optional().describe("As the disk tells it, such as WDC*."),
    serial: z.string().min(1).optional().describe("Serial number."),
    modalias: z.string().min(1).optional().describe("Kind of device, as the kernel names it."),
    uuid: z.string().min(1).optional().describe("UUID of the disk."),
    wwid: z.string().min(1).optional().describe("World wide identifier, such as naa.5000c500*."),
    type: z.enum(["ssd", "hdd", "nvme", "sd"]).optional().describe("Kind of disk."),
    busPath: z.string().min(1).optional().describe("Where it is plugged in, such as /pci0000:00/*."),
  })
  .refine((selector) => Object.values(selector).some((value) => value !== undefined), {
    error: "a selector that says something, such as { type: nvme }",
  });

const template = z
  .union([z.string(), z.strictObject({ templateRef: z.string().min(1).describe("File that holds the template.") })], {
    error: "a Handlebars template as text, or { templateRef: ./file.hbs }",
  })
  // By the time that this is read, the loader has put the text in place of a reference.
  .transform((value) => (typeof value === "string" ? value : ""));

const meta = z
  .record(z.string(), template)
  .default({})
  .describe(
    "Values of the META partition by key: 10 is the network before the config, 12 to 14 are free. Handlebars templates; an empty text takes a value away.",
  );

const machine = z.strictObject({
  address: hostOrAddress.describe("Where its Talos API answers, in maintenance mode and later."),
  role: z.enum(["controlplane", "worker"]).describe("What it is in the cluster."),
  pool: name.optional().describe("Which of the workers' pools it belongs to. Default: the only one."),
  disk: device.optional().describe("Disk that Talos is installed on. Default: cluster.installDisk."),
  diskSelector: diskSelector.optional().describe("The same, by what the disk is."),
  image: z.string().min(1).optional().describe("Installer image. Default: from version and schematic."),
  schematic: schematic.optional().describe("What is added to this machine's image. Default: cluster.schematic."),
  wipe: z.boolean().optional().describe("Empty the whole disk before installing. Default: infrastructure.wipe."),
  fingerprint: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, { error: "a fingerprint of 44 characters, as the machine's console shows it" })
    .optional()
    .describe("Fingerprint of its certificate in maintenance mode, as its console shows it."),
  adopted: z
    .boolean()
    .default(false)
    .describe("It had its config before. If it loses it, it gets none until its fingerprint is here."),
  link: linkName.optional().describe("Network link that has the address, by name."),
  mac: macAddress.optional().describe("The same, by the link's MAC address."),
  patches: patches.default([]).describe("Talos config patches for this machine."),
  meta,
});

const network = z
  .strictObject({
    cidr: anyCidr
      .optional()
      .describe("The machines' network. With it their addresses are static and in the config; without, from DHCP."),
    gateway: anyAddress.optional().describe("Default route of static addresses."),
    nameservers: z.array(anyAddress).default([]).describe("Name servers. Default: from DHCP, else Talos's own."),
    vip: anyAddress.optional().describe("Address that the control planes share; the cluster's endpoint is on it."),
  })
  .prefault({})
  .describe("Network settings of the config. Default: DHCP.");

const pool = { count: count(0, 5_000).optional().describe("Held against the machines of this role, when given.") };
const worker = z.strictObject({ name: name.default("w").describe("Name of the pool."), ...pool, ...poolFields });

/** Machines that somebody else made, by their addresses. */
export const metal = {
  kind: "metal",
  infrastructure: z.strictObject({
    kind: z.literal("metal").describe("Machines that are there already, by address; booted into maintenance mode."),
    machines: z.record(name, machine).describe("The machines by host name."),
    trustOnFirstUse: trustOnFirstUse.describe(
      "Apply the initial config, which holds the CA keys, also to machines without a fingerprint, whatever answers at their addresses.",
    ),
    diskSelector: diskSelector.optional().describe("Disk that Talos is installed on, where a machine does not say."),
    wipe: z.boolean().default(false).describe("Empty the whole disk before installing."),
    meta,
    network,
    deletionProtection,
  }),
  controlPlane: z.strictObject({ ...pool, ...poolFields }),
  worker,
  workers: z.array(worker).default([]),
} as const;
