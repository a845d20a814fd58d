// SPDX-License-Identifier: Apache-2.0
import { basename, relative } from "node:path";
import { TalosError } from "../talos/errors.ts";
import { isGiven } from "../talos/given.ts";
import { runsWithoutTerraform } from "./machine-source.ts";
import { findTerraform } from "./terraform/find-terraform.ts";
import { ownedByTerraform, readState, stateFile } from "./terraform/state-file.ts";
import type { Workspace } from "./workspace.ts";

/** What changes the machines of an environment: terraform or tofu, or talosmith itself. */
export type Manager =
  | { readonly kind: "terraform"; readonly binary: string; readonly isNew: boolean }
  | { readonly kind: "talosmith"; readonly isNew: boolean };

export interface ManagerFlags {
  /** A new cluster is managed without Terraform. One that exists keeps its manager. @default false */
  readonly withoutTerraform?: boolean | undefined;
}

/**
 * What manages an environment: what made it, by its state or record. A new one is managed by terraform or tofu where one
 * is on the PATH. Throws where only Terraform can do it, and there is none.
 */
export async function managerOf(workspace: Workspace, { withoutTerraform }: ManagerFlags = {}): Promise<Manager> {
  const { environment, context } = workspace;
  const binary = findTerraform(context.env, environment.backend);
  if (await ownedByTerraform(workspace)) {
    if (binary === undefined) throw terraformMissing(workspace);
    return { kind: "terraform", binary, isNew: await hasEmptyState(workspace) };
  }
  if (await workspace.machines.has()) return { kind: "talosmith", isNew: false };
  return binary === undefined || withoutTerraform
    ? { kind: "talosmith", isNew: !(await hasExistingMachines(workspace)) }
    : { kind: "terraform", binary, isNew: true };
}

/** A pod has no record of the machines of kind metal. That they have a cluster is known by its secrets. */
async function hasExistingMachines({ environment, secrets }: Workspace): Promise<boolean> {
  return environment.kind === "metal" && (await secrets.find()) !== undefined;
}

/** Of a state elsewhere nothing is known before terraform has asked for it. */
async function hasEmptyState({ root, environment: { name, backend } }: Workspace): Promise<boolean> {
  return backend.kind === "local" && ((await readState(stateFile(root, name)))?.resources ?? 0) === 0;
}

function terraformMissing({ environment: { name, kind, joins } }: Workspace): TalosError {
  const reasons = [
    joins && `workers that join the control plane of ${joins.name} are managed by Terraform`,
    runsWithoutTerraform(kind) ? undefined : `machines of kind ${kind} are created through Terraform`,
    "it is managed by Terraform",
  ];
  const why = reasons.find(isGiven);
  return new TalosError("failed-precondition", `${name}: ${why}, but neither terraform nor tofu is on the PATH`, {
    hint: "Install terraform or tofu, or set TERRAFORM_BINARY_NAME to its path.",
  });
}

/** "terraform", "tofu" or "talosmith". */
export function managerName(manager: Manager): string {
  return manager.kind === "terraform" ? basename(manager.binary) : "talosmith";
}

/** The one line in which runs of different managers differ. */
export function managerLine({ root, environment }: Workspace, manager: Manager, flags: ManagerFlags = {}): string {
  const { name, backend } = environment;
  if (manager.kind === "talosmith")
    return manager.isNew
      ? `${name} is new: talosmith manages it without Terraform.`
      : `${name} is managed without Terraform.`;
  const state = backend.kind === "local" ? relative(root, stateFile(root, name)) : `backend ${backend.kind}`;
  if (manager.isNew) return `${name} is new: ${managerName(manager)} manages it (${state}).`;
  const kept = flags.withoutTerraform ? " --without-terraform is for new clusters." : "";
  return `${name} is managed by ${managerName(manager)} (${state}).${kept}`;
}
