// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { addonsSchema, storageSchema } from "./addons.ts";
import { aws } from "./aws.ts";
import { backendSchema } from "./backend.ts";
import { backupSchema, operateSchema } from "./backup.ts";
import { clusterSchema, rolloutSchema } from "./cluster.ts";
import { container } from "./container.ts";
import { libvirt } from "./libvirt.ts";
import { metal } from "./metal.ts";
import { simulated } from "./simulated.ts";
import { name, relativePath } from "./values.ts";

/** A kind of infrastructure. */
export type Kind = "simulated" | "libvirt" | "aws" | "metal" | "container";
/** One entry per kind of infrastructure: its own fields, and what its pools may say. */
export const kinds = { simulated, libvirt, aws, metal, container } as const satisfies Record<Kind, object>;
export const kindNames = Object.keys(kinds) as readonly Kind[];

const secretsSchema = z
  .strictObject({ file: relativePath.optional().describe("Secrets bundle. Default: secrets/<environment>.yaml.") })
  .prefault({})
  .describe("Where the cluster's secrets are kept.");

const outputsSchema = z
  .strictObject({
    kubeconfig: z.boolean().default(false).describe("The kubeconfig as a sensitive output: the state then holds it."),
    talosconfig: z.boolean().default(false).describe("The talosconfig as a sensitive output: the state then holds it."),
  })
  .prefault({})
  .describe("Outputs with content that is secret. Without them only the files on disk have it.");

/** base.yaml is merged under every environment and is none itself. */
export const environmentName = name.refine((value) => value !== "base");
export const sections = {
  cluster: clusterSchema,
  secrets: secretsSchema,
  backend: backendSchema,
  backup: backupSchema,
  addons: addonsSchema,
  storage: storageSchema,
  rollout: rolloutSchema,
  operate: operateSchema,
  outputs: outputsSchema,
} as const;
export type { AddonSection, StorageSection } from "./addons.ts";
export { type Backend, passphraseVariable } from "./backend.ts";
export type { BackupSection, OperateSection } from "./backup.ts";
export type { ClusterSection, RolloutSection } from "./cluster.ts";
export { dockerDefaults } from "./container.ts";
export { minimumHardware } from "./libvirt.ts";
export { anyKind } from "./simulated.ts";
