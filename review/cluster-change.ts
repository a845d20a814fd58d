// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import type { Change, Plan, Values } from "./plan.ts";

const machines = z.record(
  z.string(),
  z.object({ role: z.string().nullish(), member_id: z.string().nullish(), fingerprint: z.string().nullish() }),
);
const texts = z.array(z.string());

const clusterValues = z.object({
  name: z.string().nullish(),
  endpoint: z.string().nullish(),
  talos_version: z.string().nullish(),
  kubernetes_version: z.string().nullish(),
  on_destroy: z.string().nullish(),
  join: z.unknown().optional(),
  trust_on_first_use: z.boolean().nullish(),
  machines: machines.nullish(),
  steps: texts.nullish(),
  changes: z.record(z.string(), texts).nullish(),
});

type ClusterValues = z.output<typeof clusterValues>;

export interface ClusterMachine {
  readonly name: string;
  readonly controlPlane: boolean;
  /** Undefined while it is not known, which is while its machine is yet to be made. */
  readonly memberId: string | undefined;
  /** Whether its certificate is pinned by a fingerprint that is known now. */
  readonly pinned: boolean;
}

/** How new machines of a cluster get their initial config. */
export type InitialConfig = "fingerprint" | "user-data" | "first-use";

/** What a plan does to one `talosmith_cluster`, in the words of that resource. */
export interface ClusterChange {
  readonly address: string;
  readonly name: string;
  readonly change: Change;
  readonly before: ClusterValues | undefined;
  readonly after: ClusterValues | undefined;
  readonly machinesBefore: readonly ClusterMachine[];
  readonly machinesAfter: readonly ClusterMachine[];
  readonly initialConfig: InitialConfig;
  /** Undefined while they depend on something that is not made yet. */
  readonly steps: readonly string[] | undefined;
  /** Lines of a redacted diff by machine. */
  readonly configChanges: Readonly<Record<string, readonly string[]>>;
}

export function clusterChanges(plan: Plan): readonly ClusterChange[] {
  return plan.changes
    .filter(({ type }) => type === "talosmith_cluster")
    .map((change) => clusterChange(change, initialConfigOf(plan, change)));
}

/** Behind Talos endpoints, and where a seed of the same plan holds a config, machines start with it. */
function initialConfigOf({ changes }: Plan, { after, unknown }: Change): InitialConfig {
  if (after?.trust_on_first_use === true) return "first-use";
  const throughEndpoints = after?.talos_endpoints != null || unknown.talos_endpoints !== undefined;
  const seeded = changes.some(
    ({ type, after: seed }) => type === "talosmith_cloud_init" && (seed?.machine_config ?? seed?.user_data) != null,
  );
  return throughEndpoints || seeded ? "user-data" : "fingerprint";
}

function clusterChange(change: Change, initialConfig: InitialConfig): ClusterChange {
  const before = read(change.before);
  const after = read(change.after);
  return {
    address: change.address,
    name: after?.name ?? before?.name ?? change.address,
    change,
    before,
    after,
    machinesBefore: machinesOf(before),
    machinesAfter: machinesOf(after),
    initialConfig,
    steps: after?.steps ?? undefined,
    configChanges: after?.changes ?? {},
  };
}

/** Machines that the cluster loses, and those whose name goes to another machine. */
export function goingMachines({ machinesBefore, machinesAfter }: ClusterChange): {
  readonly leaving: readonly ClusterMachine[];
  readonly replaced: readonly ClusterMachine[];
} {
  const after = new Map(machinesAfter.map((machine) => [machine.name, machine]));
  return {
    leaving: machinesBefore.filter(({ name }) => !after.has(name)),
    replaced: machinesBefore.filter(({ name, memberId }) => {
      const now = after.get(name);
      return now !== undefined && memberId !== undefined && now.memberId !== memberId;
    }),
  };
}

/** A provider of another version may have other fields; what does not fit is not told. */
function read(values: Values | null): ClusterValues | undefined {
  return values === null ? undefined : clusterValues.safeParse(values).data;
}

function machinesOf(values: ClusterValues | undefined): readonly ClusterMachine[] {
  return Object.entries(values?.machines ?? {}).map(([name, { role, member_id, fingerprint }]) => ({
    name,
    controlPlane: role === "controlplane",
    memberId: member_id ?? undefined,
    pinned: fingerprint != null,
  }));
}
