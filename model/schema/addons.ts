// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { duration, hostOrAddress, relativePath } from "./values.ts";

const kubernetesName = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?$/, {
  error: "a name of at most 53 lower-case letters, digits and hyphens",
});

const addon = z
  .strictObject({
    name: kubernetesName.describe("Name of the Helm release."),
    namespace: kubernetesName.optional().describe("Made when it is not there. Default: the name."),
    chart: z.string().min(1).describe("Name in the repository, oci://…, or a path such as ./charts/app."),
    repository: z
      .string()
      .regex(/^https?:\/\/\S+$/, { error: "the URL of a chart repository" })
      .optional()
      .describe("URL of the chart repository; not for oci:// and paths."),
    version: z.string().min(1).optional().describe("Version of the chart. Default: the newest; better name one."),
    values: z
      .record(z.string(), z.unknown())
      .default({})
      .describe("Values of the chart. No secrets: they are in plans."),
    valuesFiles: z
      .array(relativePath)
      .default([])
      .describe("Files with further values, which may be secret: only their hash is in plans and state."),
    credentials: z
      .strictObject({
        username: z.string().min(1).describe("User of the repository or registry."),
        passwordEnv: z.string().min(1).optional().describe("Environment variable that holds the password."),
        passwordFile: relativePath.optional().describe("File that holds the password."),
      })
      .refine(({ passwordEnv, passwordFile }) => (passwordEnv === undefined) !== (passwordFile === undefined), {
        error: "one of passwordEnv and passwordFile",
      })
      .optional()
      .describe("For private repositories and registries."),
    cni: z.boolean().default(false).describe("It brings the pod network, for cluster.cni none: it goes first."),
    after: z.array(kubernetesName).default([]).describe("Add-ons that must be ready before it."),
    wait: z.boolean().default(true).describe("Wait until it is ready, and go back when it does not become so."),
    timeout: duration.prefault("10m").describe("How long it may take."),
  })
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
