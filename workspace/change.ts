// SPDX-License-Identifier: Apache-2.0
import { usesKubernetes } from "../engine/index.ts";
import { addonsOf } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { counted } from "./amounts.ts";
import { withDirectChange } from "./direct-change.ts";
import { forgetPreviousContract, saveContract } from "./environment-file.ts";
import { removeRecord } from "./machine-record.ts";
import type { Manager } from "./manager.ts";
import type { ChangeOptions, PlannedChange } from "./planned-change.ts";
import { removeStack } from "./terraform/prepare-stack.ts";
import { readState, removeState, stateFile } from "./terraform/state-file.ts";
import { withTerraformChange } from "./terraform/terraform-change.ts";
import type { Workspace } from "./workspace.ts";

/** Plans a change through the environment's manager, and lends it to `work`. Nothing of the plan is kept afterwards. */
export async function withPlannedChange<T>(
  workspace: Workspace,
  manager: Manager,
  options: ChangeOptions,
  work: (planned: PlannedChange) => Promise<T>,
): Promise<T> {
  if (options.intent === "deploy") refuseAddonsAlone(workspace);
  return manager.kind === "terraform"
    ? withTerraformChange(workspace, manager.binary, options, work)
    : withDirectChange(workspace, options, work);
}

/** A file that leaves Kubernetes out has no add-ons; a flag may ask for it all the same. */
function refuseAddonsAlone({ environment, policy }: Workspace): void {
  const { length } = addonsOf(environment);
  if (usesKubernetes(policy) || length === 0) return;
  throw new TalosError("invalid-input", `--no-kubernetes, but ${environment.file} has ${counted(length, "add-on")}`, {
    hint: "Leave the flag out, or remove the add-ons from the file: they are installed through the Kubernetes API.",
  });
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

/**
 * A destroy leaves a state that says nothing is there, and the stack that it was made by. Throws where the state still has
 * resources: with it, they would be lost from sight.
 */
export async function removeEmptyState(workspace: Workspace): Promise<void> {
  const { root, name, environment } = workspace;
  const file = stateFile(root, name);
  const resources = environment.backend.kind === "local" ? ((await readState(file))?.resources ?? 0) : 0;
  if (typeof resources === "number" && resources > 0)
    throw new TalosError("failed-precondition", `${file} still has ${counted(resources, "resource")}`, {
      hint: `The state is kept. To see them: terraform state list in cdktf.out/stacks/${name}. Then run talosmith destroy ${name} again.`,
    });
  await forgetDeployment(workspace);
}

/** Removes state, record and stack, whatever they have. */
export async function forgetDeployment({ root, name }: Workspace): Promise<void> {
  await removeRecord(root, name);
  await removeState(stateFile(root, name));
  await removeStack(root, name);
}
