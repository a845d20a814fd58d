// SPDX-License-Identifier: Apache-2.0
import { type ClusterChange, type ClusterMachine, clusterChanges, goingMachines } from "../cluster-change.ts";
import type { Finding, Rule } from "../plan.ts";

/** Trouble that a change of a cluster tells by itself. */
export const clusterRule: Rule = (plan) =>
  clusterChanges(plan).flatMap((cluster) => {
    if (cluster.change.action === "delete" || cluster.change.action === "replace") return [destroyed(cluster)];
    if (cluster.before === undefined) return trustFindings(cluster);
    return [
      ...trustFindings(cluster),
      ...controlPlaneFindings(cluster),
      ...workerFindings(cluster),
      ...settingFindings(cluster),
    ];
  });

function destroyed({ address, name, before, change }: ClusterChange): Finding {
  const policy = before?.on_destroy;
  const end =
    policy === "prevent"
      ? "on_destroy = prevent will refuse it"
      : policy === "keep"
        ? "its machines stay as they are"
        : "every machine is wiped, and etcd with it";
  const sentence = `${name} is ${change.action === "replace" ? "destroyed and made anew" : "destroyed"}: ${end}.`;
  return { level: "danger", title: "Cluster destroyed", address, sentence };
}

/** Machines that come: their initial config is what an impostor would be after. */
function trustFindings(cluster: ClusterChange): Finding[] {
  const { address, name, machinesBefore, machinesAfter, initialConfig } = cluster;
  const known = new Set(machinesBefore.map((machine) => machine.name));
  for (const machine of goingMachines(cluster).replaced) known.delete(machine.name);
  const trusted = machinesAfter.filter((machine) => !known.has(machine.name) && !machine.pinned);
  if (initialConfig !== "first-use" || trusted.length === 0) return [];
  const sentence = `The initial config, with the secrets of ${name}, goes to whatever answers at the address of ${trusted.map((machine) => machine.name).join(", ")}.`;
  return [{ level: "caution", title: "Trust on first use", address, sentence }];
}

function controlPlaneFindings(cluster: ClusterChange): Finding[] {
  const { address, name } = cluster;
  const { leaving, replaced } = onlyControlPlanes(goingMachines(cluster));
  const before = cluster.machinesBefore.filter(isControlPlane).length;
  const after = cluster.machinesAfter.filter(isControlPlane).length;
  const findings: Finding[] = replaced.map((machine) => {
    const sentence = `${machine.name} of ${name} leaves etcd and a new machine joins in its place.`;
    return { level: "danger", title: "Control plane replaced", address, sentence };
  });
  if (leaving.length > 0) {
    const who = leaving.map((machine) => machine.name).join(", ");
    const what = leaving.length === 1 ? "leaves etcd and is wiped" : "leave etcd and are wiped";
    const sentence = `${who} ${what}: ${name} goes from ${before} to ${after} control planes and then ${survives(after)}.`;
    findings.push({ level: "danger", title: "Quorum touched", address, sentence });
  }
  if (replaced.length > 1) {
    const sentence = `${replaced.length} of ${before} control planes of ${name} are replaced in one apply; the provider refuses more than one at a time.`;
    findings.push({ level: "danger", title: "Quorum touched", address, sentence });
  }
  return findings;
}

function workerFindings(cluster: ClusterChange): Finding[] {
  const { leaving, replaced } = goingMachines(cluster);
  const finding = (title: string, { name }: ClusterMachine, end: string): Finding => {
    const sentence = `${name} is drained, leaves ${cluster.name}, ${end}.`;
    return { level: "caution", title, address: cluster.address, sentence };
  };
  return [
    ...leaving.filter((m) => !m.controlPlane).map((m) => finding("Disk wiped", m, "and its disk is wiped")),
    ...replaced.filter((m) => !m.controlPlane).map((m) => finding("Worker replaced", m, "and a new machine joins")),
  ];
}

function settingFindings({ address, name, before, after }: ClusterChange): Finding[] {
  const findings: Finding[] = [];
  if (after?.endpoint != null && before?.endpoint != null && after.endpoint !== before.endpoint) {
    const sentence = `${name} is reached at another address from now on: kubeconfigs that others hold stop working.`;
    findings.push({ level: "caution", title: "Endpoint moves", address, sentence });
  }
  if (before?.on_destroy === "prevent" && after?.on_destroy !== "prevent") {
    const sentence = `${name} can be destroyed after this: on_destroy is no longer prevent.`;
    findings.push({ level: "caution", title: "Protection removed", address, sentence });
  }
  return findings;
}

function survives(controlPlanes: number): string {
  const failures = Math.floor((controlPlanes - 1) / 2);
  return `survives the loss of ${failures < 1 ? "none" : failures}`;
}

const isControlPlane = ({ controlPlane }: ClusterMachine) => controlPlane;

function onlyControlPlanes({ leaving, replaced }: ReturnType<typeof goingMachines>) {
  return { leaving: leaving.filter(isControlPlane), replaced: replaced.filter(isControlPlane) };
}
