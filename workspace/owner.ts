// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { backendKey } from "../constructs/index.ts";
import type { Claim } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import { ownerAt, stateOwner } from "../model/state-owner.ts";
import { stackDirectory } from "./terraform/prepare-stack.ts";

/** The name of the Terraform state that this project has of an environment, or would have: `deploy` goes on with `up`'s. */
export function ownerOf(root: string, { name, backend }: Pick<Environment, "name" | "backend">): string {
  const owner = stateOwner({
    environment: name,
    backend: backendKey(name, backend),
    workspace: workspaceOf(root, name),
  });
  return ownerAt(owner, realpathSync(root));
}

/** The one that terraform or tofu would use in the stack's folder. */
function workspaceOf(root: string, environment: string): string {
  const chosen = join(stackDirectory(root, environment), ".terraform", "environment");
  const written = existsSync(chosen) ? readFileSync(chosen, "utf8").trim() : "";
  return process.env.TF_WORKSPACE || written || "default";
}

/** Work without Terraform on a cluster that a state elsewhere has is refused; none is recorded, for there is no state. */
export function claimOf(root: string, environment: Pick<Environment, "name" | "backend">): Claim {
  return { owner: ownerOf(root, environment), isNew: true, joins: false, applies: 0, onlyCheck: true };
}
