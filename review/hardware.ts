// SPDX-License-Identifier: Apache-2.0
import { clusterChanges, goingMachines } from "./cluster-change.ts";
import { type Change, changedAttributes, type Plan } from "./plan.ts";
import { machineTypes, memberOn } from "./rules/machines.ts";

/** A machine that a plan stops and changes; it stays the same machine to its cluster. */
export interface HardwareChange {
  readonly name: string;
  readonly controlPlane: boolean;
  /** Everything of this machine that the plan changes: for one `-target` each. */
  readonly addresses: readonly string[];
}

/** Attributes whose change stops a machine that is updated in place; without an entry, none does. */
const stoppingAttributes: Readonly<Record<string, (attributes: readonly string[]) => boolean>> = {
  // Of a running domain, the provider stops, defines and starts it for any change.
  libvirt_domain: () => true,
  aws_instance: (attributes) => attributes.includes("instance_type"),
};

/** The machines that a plan stops to change them. Machines without a key in their address are left out. */
export function hardwareChanges(plan: Plan): readonly HardwareChange[] {
  const going = new Set(
    clusterChanges(plan).flatMap((cluster) =>
      Object.values(goingMachines(cluster))
        .flat()
        .map(({ name }) => name),
    ),
  );
  const roles = rolesIn(plan);
  return plan.changes.flatMap((change) => {
    const name = stops(change) ? memberOn(plan, change) : undefined;
    const block = blockOf(change.address);
    if (name === undefined || block === undefined || going.has(name)) return [];
    const addresses = plan.changes.map(({ address }) => address).filter((address) => isPartOf(address, block));
    return [{ name, controlPlane: roles.get(name) === "controlplane", addresses }];
  });
}

/** Whether a plan stops any machine to change it, or replaces one. */
export function stopsMachines({ changes }: Plan): boolean {
  return changes.some(stops);
}

function stops(change: Change): boolean {
  if (!machineTypes.has(change.type)) return false;
  if (change.action === "replace") return true;
  return change.action === "update" && (stoppingAttributes[change.type]?.(changedAttributes(change)) ?? false);
}

function rolesIn({ before }: Plan): ReadonlyMap<string, unknown> {
  const clusters = before.filter(({ type }) => type === "talosmith_cluster");
  return new Map(
    clusters.flatMap(({ values }) =>
      Object.entries((values.machines ?? {}) as Record<string, { readonly role?: unknown }>).map(
        ([name, machine]) => [name, machine.role] as const,
      ),
    ),
  );
}

interface Block {
  readonly module: string;
  readonly id: string;
  readonly key: string;
}

/** `module.a.libvirt_domain.worker["w-1"]` */
function blockOf(address: string): Block | undefined {
  const {
    module = "",
    id,
    key,
  } = /^(?<module>.*\.)?[^.[\]]+\.(?<id>[^.[\]]+)\[(?<key>"[^"]+")\]$/.exec(address)?.groups ?? {};
  return id === undefined || key === undefined ? undefined : { module, id, key };
}

/** Blocks of a pool begin with its name, and a machine has the same key in all of them. */
function isPartOf(address: string, { module, id, key }: Block): boolean {
  const own = blockOf(address);
  return own?.key === key && own.module === module && (own.id === id || own.id.startsWith(`${id}_`));
}
