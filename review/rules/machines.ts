// SPDX-License-Identifier: Apache-2.0
import { clusterChanges, goingMachines } from "../cluster-change.ts";
import type { Rule } from "../finding.ts";
import type { Change, Plan, Values } from "../plan.ts";

/** What a machine is made of, by kind of infrastructure. */
const machineTypes = new Set([
  "aws_instance",
  "libvirt_domain",
  "docker_container",
  "kubernetes_stateful_set_v1",
  "talosmith_simulated_machine",
]);

/** Machines that go away without their cluster's knowing: nobody takes them out of etcd first. */
export const machineRule: Rule = (plan) => {
  const told = toldByClusters(plan);
  return plan.changes
    .filter(({ type, action }) => machineTypes.has(type) && (action === "replace" || action === "delete"))
    .filter((change) => !told.has(memberOn(plan, change) ?? ""))
    .map(({ address, action }) => {
      const what = action === "replace" ? "replaced" : "destroyed";
      return {
        level: "danger",
        title: `Machine ${what}`,
        address,
        sentence: `The machine is ${what}, and no cluster in this plan lets it leave first.`,
      };
    });
};

function toldByClusters(plan: Plan): ReadonlySet<string> {
  return new Set(
    clusterChanges(plan).flatMap((cluster) => {
      const { leaving, replaced } = goingMachines(cluster);
      return [...leaving, ...replaced].map(({ name }) => name);
    }),
  );
}

/** The name of the member on a machine. It has the machine's id, or that of its disk: then they share a name. */
function memberOn({ before }: Plan, change: Change): string | undefined {
  const members = before.filter(({ type }) => type === "talosmith_member").map(({ values }) => values);
  const { id } = change.before ?? {};
  const byId = id === undefined ? undefined : members.find(({ machine_id }) => machine_id === id);
  const own = machineName(change.before);
  const name = (byId ?? members.find((member) => member.name === own))?.name;
  return typeof name === "string" ? name : undefined;
}

function machineName(values: Values | null): unknown {
  const { name, metadata } = values ?? {};
  const [ofPod] = Array.isArray(metadata) ? metadata : [];
  return name ?? (ofPod as Values | undefined)?.name;
}
