// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { backendKey } from "../constructs/index.ts";
import type { Claim } from "../engine/index.ts";
import { ownerAt, stateOwner } from "../model/state-owner.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { stackDirectory } from "./terraform/prepare-stack.ts";

/** The name of the Terraform state that this project has of an environment, or would have: `deploy` goes on with `up`'s. */
export function ownerOf({ root, environment: { name, backend }, context }: EnvironmentOnDisk): string {
  const workspace = context.env.TF_WORKSPACE || chosenWorkspace(root, name) || "default";
  const owner = stateOwner({ environment: name, backend: backendKey(name, backend), workspace });
  return ownerAt(owner, realpathSync(root));
}

/** The workspace that terraform or tofu has selected in the stack's folder. */
function chosenWorkspace(root: string, environment: string): string {
  const chosen = join(stackDirectory(root, environment), ".terraform", "environment");
  return existsSync(chosen) ? readFileSync(chosen, "utf8").trim() : "";
}

/** Work without Terraform on a cluster that a state elsewhere has is refused; none is recorded, for there is no state. */
export function claimOf(place: EnvironmentOnDisk): Claim {
  return { owner: ownerOf(place), isNew: true, joins: false, applies: 0, onlyCheck: true };
}
