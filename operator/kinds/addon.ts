// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { clusterRef, conditions, metadata, type ObjectOf, observedGeneration, timestamp } from "./common.ts";

/** What a TalosClusterAddon has beside the fields of an add-on. */
export const addonControls = z.object({
  clusterRef,
  deletionPolicy: z
    .enum(["Retain", "Delete"])
    .default("Delete")
    .describe("Whether the release is uninstalled when the object is deleted."),
});

export const addonStatus = z.object({
  observedGeneration,
  phase: z
    .enum(["Pending", "Installing", "Deployed", "RolledBack", "Failed", "Uninstalling"])
    .optional()
    .describe("What the release is."),
  release: z.string().optional().describe("Name of the Helm release."),
  releaseNamespace: z.string().optional().describe("Namespace of the Helm release."),
  chart: z.string().optional().describe("Chart and version that are installed."),
  revision: z.int().optional().describe("Revision of the release; a rollback is a revision, too."),
  lastDeployedAt: timestamp("When the release was changed last."),
  conditions,
});

export type AddonStatus = Readonly<z.output<typeof addonStatus>>;
export type AddonObject = ObjectOf<
  Readonly<z.output<typeof addonControls>> & Readonly<Record<string, unknown>>,
  AddonStatus
>;

const schema = z.looseObject({
  metadata,
  spec: z.looseObject(addonControls.shape),
  status: addonStatus.prefault({}),
});

export const readAddon = (value: unknown): AddonObject => schema.parse(value);
