// SPDX-License-Identifier: Apache-2.0
import { withDirectChange } from "./direct-change.ts";
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

/** A destroy leaves a state that says nothing is there, and the stack that it was made by. */
export async function removeEmptyState({ root, name }: Workspace): Promise<void> {
  await removeState(stateFile(root, name));
  await removeStack(root, name);
}
