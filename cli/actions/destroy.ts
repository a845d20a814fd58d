// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { removeClientFiles } from "../helper/client-files.ts";
import { destroyWithHelper, refuseProtected } from "../helper/helper-door.ts";
import { removeMachines } from "../helper/machines.ts";
import { findSecrets } from "../helper/secrets.ts";
import { whatStays } from "../helper/what-stays.ts";
import { openExistingEnvironment } from "../open-environment.ts";
import { withProgress } from "../output/progress.ts";
import { clearAbandonedState } from "../terraform/abandoned-state.ts";
import { findTerraform } from "../terraform/find-terraform.ts";
import { removeStack } from "../terraform/prepare-stack.ts";
import { ownedByTerraform, readState, removeState, stateFile } from "../terraform/state-file.ts";
import { destroyWithTerraform } from "../terraform/terraform-door.ts";

export async function destroy(name: string, flags: ApprovalFlags, context: CommandContext): Promise<void> {
  const { root, environment } = openExistingEnvironment(name, context);
  refuseProtected(environment);
  await clearAbandonedState(root, environment, context);
  // A state that cannot be read may own what there is: it is refused before anything goes, the file itself included.
  if (environment.backend.kind === "local") await readState(stateFile(root, name));
  // Simulated machines hold nothing worth a question.
  const approval = { yes: flags.yes || environment.kind === "simulated" };
  if (environment.kind === "simulated" && (await findSecrets(root, environment, context)) === undefined) {
    await forgetSimulated(root, environment, context);
    return;
  }
  const done = (await ownedByTerraform(root, environment))
    ? await destroyWithTerraform({
        root,
        environment,
        binary: requireTerraform(environment, context),
        approval,
        context,
      })
    : await destroyAlone(root, environment, approval, context);
  context.stderr.write(done ? `${name} is gone.\n${whatStays(root, environment)}` : "Nothing was changed.\n");
  if (!done) context.exit(1);
}

/** Without secrets nobody can speak to the machines any more; simulated ones can be thrown away all the same. */
async function forgetSimulated(root: string, environment: Environment, context: CommandContext): Promise<void> {
  await removeMachines(root, environment);
  await removeClientFiles(root, environment.name);
  await removeState(stateFile(root, environment.name));
  await removeStack(root, environment.name);
  context.stderr.write(
    `${environment.name} is gone. It had no secrets, so its machines were removed without leaving.\n`,
  );
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

async function destroyAlone(
  root: string,
  environment: Environment,
  approval: ApprovalFlags,
  context: CommandContext,
): Promise<boolean> {
  const question = `Destroy everything in ${environment.name}? There is no way back.`;
  if (!(await approved(question, environment.name, approval, context))) return false;
  await withProgress(context, {}, (events) => destroyWithHelper(root, environment, context, events));
  // What a destroy by hand leaves: a state that says nothing is there.
  await removeState(stateFile(root, environment.name));
  await removeStack(root, environment.name);
  return true;
}
