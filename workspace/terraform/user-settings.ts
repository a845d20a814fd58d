// SPDX-License-Identifier: Apache-2.0
import { fileReader } from "../../model/index.ts";
import { selectedWorkspace } from "../../model/state-owner.ts";
import { TalosError } from "../../talos/errors.ts";
import type { EnvironmentOnDisk } from "../context.ts";

/**
 * Throws where the user's own settings of terraform would make every plan one of something else: of another state than the
 * one that talosmith reads and backs up, or of less or more than the command says.
 */
export function refuseOtherPlans(place: EnvironmentOnDisk): void {
  refuseWorkspace(place);
  for (const variable of ["TF_CLI_ARGS", "TF_CLI_ARGS_plan"]) {
    const found = planChanging.exec(place.context.env[variable] ?? "")?.groups?.argument;
    if (found === undefined) continue;
    throw new TalosError(
      "failed-precondition",
      `${variable} has ${found}, so a plan would not be what the command says`,
      {
        hint: `Remove it from ${variable}. For a plan with it, run ${byHand(place)}.`,
      },
    );
  }
}

/** Arguments of `plan` that change what is planned, or of which state. */
const planChanging =
  /(?:^|[\s'"])(?<argument>--?(?:destroy|refresh-only|target(?:-file)?|exclude(?:-file)?|replace|state(?:-out)?))(?=[=\s'"]|$)/;

/** A remote backend has the states of all workspaces in one place. */
function refuseWorkspace(place: EnvironmentOnDisk): void {
  const { root, environment, context } = place;
  const workspace = selectedWorkspace(environment.name, fileReader(root), context.env);
  if (environment.backend.kind !== "local" || workspace === "default") return;
  const [by, change] = context.env.TF_WORKSPACE
    ? ["TF_WORKSPACE selects", "Unset TF_WORKSPACE"]
    : ["terraform has selected", "Run terraform workspace select default in the stack's folder"];
  throw new TalosError(
    "failed-precondition",
    `${by} the workspace ${workspace}, but with a local state talosmith uses the workspace default only`,
    { hint: `${change}. For another cluster, add an environment. For the workspace, run ${byHand(place)}.` },
  );
}

function byHand({ environment: { name } }: EnvironmentOnDisk): string {
  return `terraform or tofu in cdktf.out/stacks/${name}`;
}
