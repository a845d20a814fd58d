// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { destroyWithoutTerraform, refuseProtected, whatStays } from "../../workspace/deploy.ts";
import { removeRecord } from "../../workspace/machine-record.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { removeStack } from "../../workspace/terraform/prepare-stack.ts";
import {
  ownedByTerraform,
  readState,
  refuseOwnedByTerraform,
  removeState,
  stateFile,
} from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { type ProgressOptions, withProgress } from "../output/progress.ts";
import { destroyQuestion, destroyWithTerraform } from "./deploy-with-terraform.ts";

export async function destroy(name: string, flags: ApprovalFlags, context: CommandContext): Promise<void> {
  const workspace = await openDestroyable(name, context);
  const { root, environment } = workspace;
  const isSimulated = environment.kind === "simulated";
  // A state that cannot be read may own what there is: it is refused before anything goes, the file itself included.
  if (environment.backend.kind === "local") await readState(stateFile(root, name));
  if (isSimulated && (await workspace.secrets.find()) === undefined) return forgetSimulated(workspace);
  const approval = { yes: flags.yes || isSimulated };
  const done = (await ownedByTerraform(workspace))
    ? await destroyWithTerraform({ workspace, binary: requireTerraform(environment, context), approval, context })
    : await destroyAlone(workspace, flags, context);
  if (!done) return;
  await removeEmptyState(workspace);
  context.stderr.write(`${name} is gone.\n${whatStays(workspace)}`);
}

export async function down(
  name: string,
  flags: ApprovalFlags & { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = await openDestroyable(name, context);
  await refuseOwnedByTerraform(workspace);
  if (await destroyAlone(workspace, flags, context)) context.stderr.write(`${name} is gone.\n${whatStays(workspace)}`);
}

async function openDestroyable(name: string, context: CommandContext): Promise<Workspace> {
  const workspace = openWorkspace(name, context, { warn: true, existing: true });
  refuseProtected(workspace.environment);
  await clearAbandonedState(workspace);
  return workspace;
}

/** Without secrets nobody can speak to the machines any more; simulated ones can be thrown away all the same. */
async function forgetSimulated(workspace: Workspace): Promise<void> {
  await workspace.machines.remove();
  await workspace.clientFiles.remove();
  await removeEmptyState(workspace);
  const message = `${workspace.name} is gone. It had no secrets, so its machines were removed without leaving.\n`;
  workspace.context.stderr.write(message);
}

/** A destroy leaves a state that says nothing is there, and the stack that it was made by. */
async function removeEmptyState({ root, name }: Workspace): Promise<void> {
  await removeRecord(root, name);
  await removeState(stateFile(root, name));
  await removeStack(root, name);
}

function requireTerraform(environment: Environment, context: CommandContext): string {
  const binary = findTerraform(context.env, environment.backend);
  if (binary !== undefined) return binary;
  throw new TalosError(
    "failed-precondition",
    "a Terraform state owns this environment, but neither terraform nor tofu is on the PATH",
    { hint: "Put the one that made it on the PATH and try again." },
  );
}

/** False when it was declined. */
async function destroyAlone(
  workspace: Workspace,
  { json, ...approval }: ApprovalFlags & ProgressOptions,
  context: CommandContext,
): Promise<boolean> {
  const { environment, name } = workspace;
  if (!(await approvedFor(environment, destroyQuestion(name), approval, context))) return false;
  await withProgress(context, { json }, (events) => destroyWithoutTerraform(workspace, events));
  return true;
}
