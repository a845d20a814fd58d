// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { defaultTalosVersion } from "../../talos/version/index.ts";
import {
  clusterSettings,
  controlPlaneSettings,
  poolSettings,
  rolloutSettings,
  workerSettings,
} from "../settings/index.ts";
import { shapeOf } from "./from-settings.ts";
import { airGap, diskEncryption, firewall, schematic } from "./machine-settings.ts";

const patchNoun = "a patch: a mapping, YAML text, or { configRef: ./file.yaml }";

/** A Talos config patch: a mapping, the YAML text itself, or a reference, which the loader replaces by the text. */
const patch = z.union([z.string().min(1), z.record(z.string(), z.unknown())], { error: patchNoun });
export const patches = z.array(patch, { error: "a list of patches" });

const { talosVersion } = shapeOf({ talosVersion: clusterSettings.talosVersion }, {});

export const clusterSchema = z.strictObject({
  ...shapeOf(clusterSettings, {
    schematic: schematic.optional(),
    airGap: airGap.optional(),
    diskEncryption: diskEncryption.optional(),
    firewall: firewall.optional(),
    patches: z
      .strictObject({
        all: patches.default([]).describe("For every machine."),
        controlPlane: patches.default([]).describe("For control planes."),
        worker: patches.default([]).describe("For workers."),
        machines: z.record(z.string(), patches).default({}).describe("For single machines, by name."),
      })
      .prefault({}),
  }),
  // The table is also read where releases are not known.
  talosVersion: talosVersion
    .unwrap()
    .default(defaultTalosVersion.toString())
    .describe(clusterSettings.talosVersion.description),
});

export type ClusterSection = z.output<typeof clusterSchema>;

/** What a pool of machines has on every infrastructure. */
export const poolFields = shapeOf(poolSettings, { patches: patches.default([]) });
export const workerFields = shapeOf(workerSettings, {});
export const controlPlaneFields = shapeOf(controlPlaneSettings, {});

/** How careful changes of machines in use are. */
export const rolloutSchema = z
  .strictObject(shapeOf(rolloutSettings, {}))
  .prefault({})
  .describe("How upgrades and changes are rolled out over the machines.");

export type RolloutSection = z.output<typeof rolloutSchema>;
