// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../talos/given.ts";
import { counted } from "../../workspace/amounts.ts";
import type { Deployed, DeployedMachine } from "../../workspace/deploy.ts";
import type { Colors } from "./colors.ts";

/** What a person wants to know when a deploy is done: what is there, where, and what to type next. `name` is ours. */
export function deployedSummary(deployed: Deployed, name: string, { green, yellow, bold, dim }: Colors): string {
  const width = Math.max(...deployed.machines.map(({ name }) => name.length));
  const roles = { controlplane: "control plane", worker: "worker" } as const;
  const mark = (machine: string) => (isSeen(deployed, machine) ? green("●") : yellow("○"));
  const machines = deployed.machines.map(
    ({ name, role, address }) => `  ${mark(name)} ${name.padEnd(width)}  ${roles[role].padEnd(13)}  ${address}`,
  );
  return [
    "",
    bold(headline(deployed)) + dim(`  (${deployed.seconds.toFixed(1)} s, ${deployed.runner})`),
    `Talos ${deployed.talosVersion}, Kubernetes v${deployed.kubernetesVersion}, ${deployed.endpoint}`,
    "",
    ...machines,
    "",
    "What to type next:",
    deployed.unseen && `  ${name} health ${deployed.environment}`,
    `  kubectl --kubeconfig ${deployed.kubeconfigPath} get nodes`,
    `  talosctl --talosconfig ${deployed.talosconfigPath} version`,
    `  ${name} ui`,
    `  ${name} plan ${deployed.environment}`,
    `  ${name} destroy ${deployed.environment}`,
    "",
  ]
    .filter(isGiven)
    .join("\n");
}

function isSeen({ unseen }: Deployed, machine: string): boolean {
  return unseen === undefined || (unseen.length > 0 && !unseen.includes(machine));
}

function headline({ environment, machines, unseen }: Deployed): string {
  if (unseen === undefined) return `${environment} is up: ${counts(machines)}`;
  if (unseen.length === 0) return `${environment}: not everything could be checked, see the warnings above`;
  return `${environment}: ${unseen.length} of ${machines.length} machines could not be checked: ${unseen.join(", ")}`;
}

function counts(machines: readonly DeployedMachine[]): string {
  const controlPlanes = machines.filter(({ role }) => role === "controlplane").length;
  const workers = machines.length - controlPlanes;
  return `${counted(controlPlanes, "control plane")}, ${counted(workers, "worker")}`;
}
