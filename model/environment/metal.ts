// SPDX-License-Identifier: Apache-2.0
import type * as z from "zod";
import type { SchematicChoice } from "../../talos/image/index.ts";
import type { kinds } from "../schema/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";

export type MetalSettings = z.output<(typeof kinds)["metal"]["infrastructure"]>;
type MachineSection = MetalSettings["machines"][string];
export type MetalMachineSettings = Omit<MachineSection, "schematic"> & {
  readonly schematic?: SchematicChoice | undefined;
};
export type MetalNetwork = Omit<MetalSettings["network"], "nameservers"> & { readonly nameservers: readonly string[] };
export type DiskSelector = NonNullable<MetalMachineSettings["diskSelector"]>;

/** A pool as its section says it; how large it is, the list of machines tells. */
interface Pool {
  readonly patches: readonly unknown[];
  readonly count?: number | undefined;
}

const unnamedPool = { name: "w", labels: {}, taints: {}, patches: [] };

/** The machines that a metal environment's infrastructure lists; none when it has faults. */
function listedMachines(infrastructure: object): readonly MetalMachineSettings[] {
  return "machines" in infrastructure ? Object.values(infrastructure.machines as MetalSettings["machines"]) : [];
}

/** Gives every pool its number of machines, and workers that name no pool one to be in. */
export function withCounts(sections: {
  readonly infrastructure: object;
  readonly controlPlane: Pool | undefined;
  readonly workers: readonly (Pool & { readonly name: string })[];
}) {
  const machines = listedMachines(sections.infrastructure);
  const needsPool = sections.workers.length === 0 && machines.some(({ role }) => role === "worker");
  const workers = needsPool ? [unnamedPool] : sections.workers;
  const planes = machines.filter(({ role }) => role === "controlplane").length;
  return {
    controlPlane: sections.controlPlane === undefined ? undefined : { ...sections.controlPlane, count: planes },
    workers: workers.map((pool) => ({
      ...pool,
      count: machines.filter((machine) => poolOf(machine, workers) === pool.name).length,
    })),
  };
}

/** The worker pool that a machine is in; undefined when it names none and there are several, or is a control plane. */
export function poolOf(
  { role, pool }: Pick<MetalMachineSettings, "role" | "pool">,
  workers: readonly { readonly name: string }[],
): string | undefined {
  if (role === "controlplane") return undefined;
  return pool ?? (workers.length === 1 ? workers[0]?.name : undefined);
}

/** The host names of the control planes, or of one pool of workers, in the order of the file. */
export function namesOf(
  { machines }: MetalSettings,
  workers: readonly { readonly name: string }[],
  pool: { readonly role: "controlplane" } | { readonly role: "worker"; readonly name: string },
): readonly string[] {
  return Object.entries(machines)
    .filter(([, machine]) =>
      pool.role === "controlplane" ? machine.role === "controlplane" : poolOf(machine, workers) === pool.name,
    )
    .map(([name]) => name);
}

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
