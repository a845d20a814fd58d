// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { anyCidr, count, hostOrAddress, relativePath, size, url } from "./values.ts";

/** What is added to a Talos image. */
export const schematic = z.strictObject({
  extensions: z.array(z.string().min(1)).default([]).describe("Official system extensions, as siderolabs/iscsi-tools."),
  kernelArgs: z.array(z.string().min(1)).default([]).describe("Further kernel arguments."),
});

/** What machines without the internet need, in one place. */
export const airGap = z
  .strictObject({
    mirrors: z
      .record(hostOrAddress.or(z.literal("*")), z.array(url).min(1))
      .default({})
      .describe("Registry host, or * for all, to the mirrors that are asked instead of it."),
    fallback: z.boolean().default(false).describe("Ask the registry itself when no mirror answers."),
    imageCache: z
      .boolean()
      .default(false)
      .describe("Take images from the cache that the Talos image brings with it. It has to be made with one."),
    imageCacheVolume: z
      .strictObject({
        size: size.optional().describe("Its size, such as 4GiB. Default: Talos's own, at most 1GiB."),
        disk: z
          .string()
          .min(1)
          .optional()
          .describe('Which disk, as a CEL expression such as disk.transport == "nvme". Default: the system disk.'),
      })
      .optional()
      .describe("The volume IMAGECACHE, which the cache is copied to. Default: on the system disk."),
    factory: url.optional().describe("Your own image factory, for installers and disk images."),
  })
  .refine(({ imageCache, imageCacheVolume }) => imageCache || imageCacheVolume === undefined, {
    error: "imageCache: true beside imageCacheVolume",
    path: ["imageCacheVolume"],
  });

const refused =
  "tpm, kms, nodeID or static with the file that holds the passphrase, which would end up in plan and state here";

const encryptionKey = z.union(
  [
    z.strictObject({
      tpm: z
        .strictObject({
          checkSecureBoot: z.boolean().default(true).describe("Refuse to enroll where SecureBoot is off."),
        })
        .describe("Sealed to the machine's TPM."),
    }),
    z.strictObject({
      kms: z
        .strictObject({ endpoint: url.describe("A KMS server that speaks Talos's protocol.") })
        .describe("Kept by a server in the network."),
    }),
    z.strictObject({
      static: z
        .strictObject({
          file: relativePath.describe(
            "File that holds the passphrase alone, may be encrypted with age (.age) or SOPS (.sops.yaml); it is read when it is needed.",
          ),
        })
        .describe("A passphrase, the same for all machines."),
    }),
    z.strictObject({ nodeID: z.literal(true).describe("Made from the machine's UUID: keeps out nobody who has it.") }),
  ],
  { error: refused },
);

/** Keys are tried in order; the first one that opens the volume is taken. */
const keys = z.array(encryptionKey, { error: "a list of keys" }).min(1).max(8);

export const diskEncryption = z
  .strictObject({
    state: keys.optional().describe("Keys of STATE, which holds the config."),
    ephemeral: keys.optional().describe("Keys of EPHEMERAL, which holds etcd and the pods' data."),
  })
  .refine(({ state, ephemeral }) => state !== undefined || ephemeral !== undefined, {
    error: "keys for state, ephemeral or both",
  });

const port = z.union([count(1, 65_535), z.string().regex(/^\d{1,5}-\d{1,5}$/)], {
  error: 'a port such as 443, or a range such as "30000-32767"',
});

export const firewall = z.strictObject({
  nodes: z.array(anyCidr).min(1).describe("Networks of the machines: what Talos and Kubernetes need among themselves."),
  admins: z.array(anyCidr).default([]).describe("Networks that may reach the Talos API and the Kubernetes API."),
  rules: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, { error: "a name of lower-case letters, digits and hyphens" })
          .describe("Name of the rule."),
        ports: z.array(port).min(1).describe("Such as 443 or 30000-32767."),
        protocol: z.enum(["tcp", "udp"]).default("tcp").describe("tcp or udp."),
        from: z.array(anyCidr).min(1).describe("Networks that may reach the ports."),
        on: z.enum(["all", "controlPlane", "worker"]).default("all").describe("Which machines it is for."),
      }),
    )
    .default([])
    .describe("What else may come in."),
});
