// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { count, cron, duration, timeZone, url } from "./values.ts";

const share = z
  .string()
  .regex(/^([1-9][0-9]?|100)%$/)
  .transform((text) => text as `${number}%`);

const timeout = duration.prefault("5m").describe("How long it is asked again before the rollout stops.");

const gate = z.union(
  [
    z.strictObject({
      command: z
        .array(z.string().min(1))
        .min(1)
        .describe(
          "A program and its arguments, without a shell, run in the project's folder. It passes with exit code 0.",
        ),
      timeout,
    }),
    z.strictObject({ url: url.describe("It passes when it answers with 2xx."), timeout }),
  ],
  { error: "a gate: { command: [program, argument] } or { url: https://… }" },
);

const window = z.strictObject({
  schedule: cron.describe("When it opens, as cron."),
  duration: duration.describe("How long it stays open."),
  timeZone: timeZone.default("UTC").describe("Time zone of the schedule."),
});

const canary = z.strictObject({
  machines: count(1, 1000).describe("How many machines get a change first."),
  soak: duration.prefault("0s").describe("How long they are watched before the others follow."),
  afterwards: z
    .enum(["stop", "continue"])
    .default("stop")
    .describe("stop: the run ends there, and the next one goes on. continue: it goes on by itself."),
});

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
    gates: z
      .array(gate)
      .default([])
      .describe("Checks that must pass before anything is done to a machine in use. Default: none."),
    windows: z
      .array(window)
      .default([])
      .describe("Outside of these times nothing is begun on machines in use. Default: at any time."),
    canary: canary.optional().describe("The first machines of a change, after which it waits. Default: none."),
  })
  .prefault({})
  .describe("How upgrades and changes go over the machines.");

export type RolloutSection = z.output<typeof rolloutSchema>;
