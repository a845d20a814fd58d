// SPDX-License-Identifier: Apache-2.0
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { listedMachines, poolOf } from "./metal.ts";

interface Sections {
  readonly infrastructure: object;
  readonly controlPlane: { readonly count?: number | undefined } | undefined;
  readonly workers: readonly { readonly name: string; readonly count?: number | undefined }[];
  readonly failed: ReadonlySet<string>;
}

/** Counts that a file gives although it lists the machines: they have to be the same. */
export function miscounts({ infrastructure, controlPlane, workers, failed }: Sections, layers: Layers): Fault[] {
  if (failed.has("infrastructure")) return [];
  const machines = listedMachines(infrastructure);
  const planes = machines.filter(({ role }) => role === "controlplane").length;
  const fault = (path: readonly (string | number)[], given: number | undefined, found: number, role: string) =>
    given === undefined || given === found
      ? []
      : [
          layers.fault(path, {
            found: `${given}, beside ${found} of infrastructure.machines with the role ${role}`,
            expected: "the number of the machines that are listed",
            hint: "Leave count out, or add or remove machines.",
          }),
        ];
  return [
    ...fault(["controlPlane", "count"], controlPlane?.count, planes, "controlplane"),
    ...workers.flatMap(({ name, count }, index) => {
      const found = machines.filter((machine) => poolOf(machine, workers) === name).length;
      return fault(["workers", index, "count"], count, found, "worker in this pool");
    }),
  ];
}
