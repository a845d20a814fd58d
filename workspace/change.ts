// SPDX-License-Identifier: Apache-2.0
import { withDirectChange } from "./direct-change.ts";
import { forgetPreviousContract, saveContract } from "./environment-file.ts";
import { removeRecord } from "./machine-record.ts";
import type { Manager } from "./manager.ts";
import type { ChangeOptions, PlannedChange } from "./planned-change.ts";
import { removeStack } from "./terraform/prepare-stack.ts";
import { removeState, stateFile } from "./terraform/state-file.ts";
import { withTerraformChange } from "./terraform/terraform-change.ts";
import type { Workspace } from "./workspace.ts";

/** Plans a change through the environment's manager, and lends it to `work`. Nothing of the plan is kept afterwards. */
export function withPlannedChange<T>(
  workspace: Workspace,
  manager: Manager,
  options: ChangeOptions,
  work: (planned: PlannedChange) => Promise<T>,
): Promise<T> {
  return manager.kind === "terraform"
    ? withTerraformChange(workspace, manager.binary, options, work)
    : withDirectChange(workspace, options, work);
}

/**
 * After a deploy the file owns the contract: a change of the Talos version, by hand too, leaves it as it is. What was
 * changed in files, as lines for people.
 */
export async function keepContract(
  { root, environment }: Workspace,
  manager: Pick<Manager, "kind">,
): Promise<readonly string[]> {
  const pinned = (await saveContract(root, environment)).map(
    (file) => `Pinned configContract: ${environment.cluster.configContract} in ${file}.`,
  );
  // Terraform keeps the previous contract in its state as well.
  const forgotten = manager.kind === "terraform" ? [] : await forgetPreviousContract(root, environment);
  return [...pinned, ...forgotten.map((file) => `Removed previousContract from ${file}: the migration is deployed.`)];
}

/** A destroy leaves a state that says nothing is there, and the stack that it was made by. */
export async function removeEmptyState({ root, name }: Workspace): Promise<void> {
  await removeRecord(root, name);
  await removeState(stateFile(root, name));
  await removeStack(root, name);
}
