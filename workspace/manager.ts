// SPDX-License-Identifier: Apache-2.0
import { basename, relative } from "node:path";
import { TalosError } from "../talos/errors.ts";
import { runsWithoutTerraform } from "./machine-source.ts";
import { findTerraform, terraformName } from "./terraform/find-terraform.ts";
import { ownedByTerraform, readState, stateFile } from "./terraform/state-file.ts";
import { refuseOtherPlans } from "./terraform/user-settings.ts";
import type { Workspace } from "./workspace.ts";

/** What changes the machines of an environment: terraform or tofu, or talosmith itself. */
export type Manager =
  | {
      readonly kind: "terraform";
      readonly binary: string;
      readonly isNew: boolean;
      /** Terraform has made machines that its state does not have. @default false */
      readonly lacksState?: boolean;
    }
  | { readonly kind: "talosmith"; readonly isNew: boolean };

export interface ManagerFlags {
  /** A new cluster is managed without Terraform. One that exists keeps its manager. @default false */
  readonly withoutTerraform?: boolean | undefined;
  /** Only a cluster that exists is changed: no new one is begun with Terraform. @default false */
  readonly existing?: boolean | undefined;
  /**
   * Machines that Terraform made are changed without it where their state is gone, as for a destroy: a new state has nothing
   * that could be destroyed. @default false
   */
  readonly stateless?: boolean | undefined;
}

/**
 * What manages an environment: what made it, by its state or record. A new one is managed by terraform or tofu where one
 * is on the PATH. Throws where only Terraform can do it, and there is none or it is not wanted; and where variables of the
 * user would have it plan something else.
 */
export async function managerOf(
  workspace: Workspace,
  { withoutTerraform, existing, stateless }: ManagerFlags = {},
): Promise<Manager> {
  const { environment, context } = workspace;
  const reason = whyTerraform(workspace);
  if (withoutTerraform && reason !== undefined) throw terraformNeeded(workspace, reason);
  const binary = findTerraform(context.env, environment.backend);
  if (await ownedByTerraform(workspace)) {
    if (binary === undefined) throw terraformMissing(workspace, reason);
    return throughTerraform(workspace, binary, await hasEmptyState(workspace));
  }
  if (!stateless && (await workspace.machines.madeByTerraform())) {
    if (binary === undefined) throw terraformMissing(workspace, "its machines were made by Terraform");
    return { ...throughTerraform(workspace, binary, false), lacksState: true };
  }
  if (await workspace.machines.has()) return { kind: "talosmith", isNew: false };
  return binary === undefined || withoutTerraform || existing
    ? { kind: "talosmith", isNew: !(await hasExistingMachines(workspace)) }
    : throughTerraform(workspace, binary, true);
}

function throughTerraform(workspace: Workspace, binary: string, isNew: boolean) {
  refuseOtherPlans(workspace);
  return { kind: "terraform", binary, isNew } as const;
}

/** A pod has no record of the machines of kind metal. That they have a cluster is known by its secrets. */
async function hasExistingMachines({ environment, secrets }: Workspace): Promise<boolean> {
  return environment.kind === "metal" && (await secrets.find()) !== undefined;
}

/** Of a state elsewhere nothing is known before terraform has asked for it. */
async function hasEmptyState({ root, environment: { name, backend } }: Workspace): Promise<boolean> {
  return backend.kind === "local" && ((await readState(stateFile(root, name)))?.resources ?? 0) === 0;
}

/** Why an environment is never managed without Terraform. Undefined where it can be. */
function whyTerraform({ environment: { kind, joins } }: Workspace): string | undefined {
  if (joins !== undefined) return `workers that join the control plane of ${joins.name} are managed by Terraform`;
  return runsWithoutTerraform(kind) ? undefined : `machines of kind ${kind} are created through Terraform`;
}

function terraformNeeded({ name }: Workspace, reason: string): TalosError {
  return new TalosError("invalid-input", `${name} cannot be deployed without Terraform: ${reason}`, {
    hint: `Use terraform or tofu: talosmith deploy ${name}`,
  });
}

function terraformMissing({ name }: Workspace, reason = "it is managed by Terraform"): TalosError {
  return new TalosError("failed-precondition", `${name}: ${reason}, but neither terraform nor tofu is on the PATH`, {
    hint: "Install terraform or tofu, or set TERRAFORM_BINARY_NAME to its path.",
  });
}

/** "terraform", "tofu" or "talosmith". */
export function managerName(manager: Manager): string {
  return manager.kind === "terraform" ? basename(manager.binary) : "talosmith";
}

/** The same for a cluster that is not changed, so that its manager need not be here. */
export async function existingManagerName(workspace: Workspace): Promise<string> {
  const { environment, context } = workspace;
  const isTerraform = (await ownedByTerraform(workspace)) || (await workspace.machines.madeByTerraform());
  return isTerraform ? terraformName(context.env, environment.backend) : "talosmith";
}

/** The one line in which runs of different managers differ. */
export function managerLine(workspace: Workspace, manager: Manager, flags: ManagerFlags = {}): string {
  const { name } = workspace;
  if (manager.kind === "terraform" && manager.lacksState)
    return `${name} was made by Terraform and its state is gone: ${managerName(manager)} goes on with a new state (${statePlace(workspace)}).`;
  if (!manager.isNew) {
    const kept = flags.withoutTerraform && manager.kind === "terraform";
    return `${managedLine(workspace, managerName(manager))}${kept ? " --without-terraform is for new clusters." : ""}`;
  }
  return manager.kind === "talosmith"
    ? `${name} is new: talosmith manages it without Terraform.`
    : `${name} is new: ${managerName(manager)} manages it (${statePlace(workspace)}).`;
}

/** The line of a cluster that exists. */
export function managedLine(workspace: Workspace, manager: string): string {
  return manager === "talosmith"
    ? `${workspace.name} is managed without Terraform.`
    : `${workspace.name} is managed by ${manager} (${statePlace(workspace)}).`;
}

function statePlace({ root, name, environment: { backend } }: Workspace): string {
  return backend.kind === "local" ? relative(root, stateFile(root, name)) : `backend ${backend.kind}`;
}
