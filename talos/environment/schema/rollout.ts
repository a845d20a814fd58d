// SPDX-License-Identifier: Apache-2.0
import { z } from "zod";
import { count, duration } from "./values.ts";

const share = z
  .string()
  .regex(/^([1-9][0-9]?|100)%$/)
  .transform((text) => text as `${number}%`);

/** How careful changes of machines that are in use are. */
export const rolloutSchema = z
  .strictObject({
    maxUnavailable: z
      .union([count(1, 1000), share], { error: 'a whole number from 1 on, or a share such as "25%"' })
      .default(1)
      .describe("How many workers may be away at once: a number, or a share of all. Control planes go one by one."),
    drainTimeout: duration.prefault("5m").describe("How long the pods of a machine have to leave it."),
    stuckPods: z
      .enum(["fail", "delete", "leave"])
      .default("fail")
      .describe(
        "When pods have not left by then: stop (fail), delete them, or leave them to go down with the machine.",
      ),
    revertFailedUpgrades: z
      .boolean()
      .default(true)
      .describe("Boot the old Talos again where the new one does not become healthy."),
    healthLevel: z
      .enum(["full", "api"])
      .default("full")
      .describe(
        "When a deploy is done: all checks of talosctl health hold (full), or etcd and the Kubernetes API answer.",
      ),
  })
  .prefault({})
  .describe("How upgrades and changes go over the machines.");

export type RolloutSection = z.output<typeof rolloutSchema>;
