// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { clusterRef, conditions, metadata, type ObjectOf } from "./common.ts";

export const machineSpec = z.object({
  clusterRef,
  name: z.string().describe("Host name of the machine."),
  role: z.enum(["controlplane", "worker"]).describe("controlplane or worker."),
  pool: z.string().optional().describe("The pool it belongs to."),
});

export const machineStatus = z.object({
  phase: z
    .enum(["Pending", "Maintenance", "Booting", "Running", "Unreachable"])
    .optional()
    .describe("What the machine does."),
  address: z.string().optional().describe("Where its Talos API answers."),
  talosVersion: z.string().optional().describe("Talos version that runs."),
  kubernetesVersion: z.string().optional().describe("Version of its kubelet."),
  conditions,
});

export type MachineStatus = Readonly<z.output<typeof machineStatus>>;
export type MachineObject = ObjectOf<Readonly<z.output<typeof machineSpec>>, MachineStatus>;

const schema = z.looseObject({ metadata, spec: machineSpec, status: machineStatus.prefault({}) });

export const readMachine = (value: unknown): MachineObject => schema.parse(value);
