// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { destroyWithoutTerraform, refuseProtected, whatStays } from "../../workspace/deploy.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { removeStack } from "../../workspace/terraform/prepare-stack.ts";
import { ownedByTerraform, readState, removeState, stateFile } from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";
import { destroyWithTerraform } from "./deploy-with-terraform.ts";

export async function destroy(name: string, flags: ApprovalFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true, existing: true });
  const { root, environment } = workspace;
  refuseProtected(environment);
  await clearAbandonedState(workspace);
  // A state that cannot be read may own what there is: it is refused before anything goes, the file itself included.
  if (environment.backend.kind === "local") await readState(stateFile(root, name));
  // Simulated machines hold nothing worth a question.
  const approval = { yes: flags.yes || environment.kind === "simulated" };
  if (environment.kind === "simulated" && (await workspace.secrets.find()) === undefined) {
    await forgetSimulated(workspace);
    return;
  }
  const done = (await ownedByTerraform(workspace))
    ? await destroyWithTerraform({ workspace, binary: requireTerraform(environment, context), approval, context })
    : await destroyAlone(workspace, approval, context);
  context.stderr.write(done ? `${name} is gone.\n${whatStays(workspace)}` : "Nothing was changed.\n");
  if (!done) context.exit(1);
}

/** Without secrets nobody can speak to the machines any more; simulated ones can be thrown away all the same. */
async function forgetSimulated({ root, name, machines, clientFiles, context }: Workspace): Promise<void> {
  await machines.remove();
  await clientFiles.remove();
  await removeState(stateFile(root, name));
  await removeStack(root, name);
  context.stderr.write(`${name} is gone. It had no secrets, so its machines were removed without leaving.\n`);
}

function requireTerraform(environment: Environment, context: CommandContext): string {
  const binary = findTerraform(context.env, environment.backend);
  if (binary !== undefined) return binary;
  throw new TalosError(
    "failed-precondition",
    "a Terraform state owns this environment, but neither terraform nor tofu is on the PATH",
    {
      hint: "Put the one that made it on the PATH and try again.",
    },
  );
}

async function destroyAlone(workspace: Workspace, approval: ApprovalFlags, context: CommandContext): Promise<boolean> {
  const { root, name } = workspace;
  const question = `Destroy everything in ${name}? There is no way back.`;
  if (!(await approved(question, name, approval, context))) return false;
  await withProgress(context, {}, (events) => destroyWithoutTerraform(workspace, events));
  // What a destroy by hand leaves: a state that says nothing is there.
  await removeState(stateFile(root, name));
  await removeStack(root, name);
  return true;
}
