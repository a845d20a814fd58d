// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { addonSettings, chartCredentialSettings } from "../settings/index.ts";
import { shapeOf } from "./from-settings.ts";
import { hostOrAddress, kubernetesName } from "./values.ts";

const addon = z
  .strictObject(
    shapeOf(addonSettings, {
      values: z.record(z.string(), z.unknown()).default({}),
      credentials: z
        .strictObject(shapeOf(chartCredentialSettings, {}))
        .refine(({ passwordEnv, passwordFile }) => (passwordEnv === undefined) !== (passwordFile === undefined), {
          error: "one of passwordEnv and passwordFile",
        })
        .optional(),
    }),
  )
  .refine(({ chart, repository }) => repository === undefined || !/^(oci:\/\/|\.{0,2}\/)/.test(chart), {
    error: "no repository beside an oci:// chart or a path",
    path: ["repository"],
  });

export const addonsSchema = z.array(addon).default([]).describe("Helm releases, in the order in which they go in.");

export const storageSchema = z
  .strictObject({
    nfs: z
      .strictObject({
        server: hostOrAddress.describe("NFS server."),
        share: z.string().regex(/^\//, { error: "an exported folder such as /srv/nfs" }).describe("Exported folder."),
        name: kubernetesName.default("nfs").describe("Name of the StorageClass."),
        default: z.boolean().default(true).describe("Whether claims that name no class get this one."),
        reclaimPolicy: z.enum(["Delete", "Retain"]).default("Delete").describe("What happens to a released volume."),
        mountOptions: z.array(z.string().min(1)).default([]).describe("Such as nfsvers=4.1."),
      })
      .optional()
      .describe("Installs the NFS CSI driver and a StorageClass. Default: not."),
  })
  .prefault({})
  .describe("Storage for workloads.");

export type AddonSection = z.output<typeof addon>;
export type StorageSection = z.output<typeof storageSchema>;
