// SPDX-License-Identifier: Apache-2.0
import type { Change, Plan, Values } from "../plan.ts";

/** What a machine is made of, by kind of infrastructure. */
export const machineTypes: ReadonlySet<string> = new Set([
  "aws_instance",
  "libvirt_domain",
  "docker_container",
  "kubernetes_stateful_set_v1",
  "talosmith_simulated_machine",
]);

/** The name of the member on a machine. It has the machine's id, or that of its disk: then they share a name. */
export function memberOn({ before }: Plan, change: Change): string | undefined {
  const members = before.filter(({ type }) => type === "talosmith_member").map(({ values }) => values);
  const { id } = change.before ?? {};
  const byId = id === undefined ? undefined : members.find(({ machine_id }) => machine_id === id);
  const own = machineName(change.before);
  const name = (byId ?? members.find((member) => member.name === own))?.name;
  return typeof name === "string" ? name : undefined;
}

/** The name of a machine by the values of what it is made of. */
export function machineName(values: Values | null): unknown {
  const { name, metadata } = values ?? {};
  const [ofPod] = Array.isArray(metadata) ? metadata : [];
  return name ?? (ofPod as Values | undefined)?.name;
}
