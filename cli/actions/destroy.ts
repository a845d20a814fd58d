// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { destroyWithHelper } from "../helper/helper-door.ts";
import { openEnvironment } from "../open-environment.ts";
import { withProgress } from "../output/progress.ts";
import { findTerraform } from "../terraform/find-terraform.ts";
import { ownedByTerraform } from "../terraform/state-file.ts";
import { destroyWithTerraform } from "../terraform/terraform-door.ts";

export async function destroy(name: string, asked: boolean, context: CommandContext): Promise<void> {
  const { root, environment } = openEnvironment(name, context);
  // Simulated machines hold nothing worth a question.
  const autoApprove = asked || environment.kind === "simulated";
  const done = (await ownedByTerraform(root, environment))
    ? (await destroyWithTerraform({ root, environment, binary: requireTerraform(context), autoApprove, context })) !==
      "declined"
    : await destroyAlone(root, environment, autoApprove, context);
  context.stderr.write(done ? `${name} is gone.\n` : "Nothing was changed.\n");
  if (!done) context.exit(1);
}

function requireTerraform(context: CommandContext): string {
  const binary = findTerraform(context.env);
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
  autoApprove: boolean,
  context: CommandContext,
): Promise<boolean> {
  const question = `Destroy everything in ${environment.name}? There is no way back.`;
  if (!autoApprove && !(await approved(question, environment.name, context))) return false;
  await withProgress(context, {}, (events) => destroyWithHelper(root, environment, context, events));
  return true;
}
