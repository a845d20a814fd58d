// SPDX-License-Identifier: Apache-2.0
import { realpathSync } from "node:fs";
import { backendKey } from "../constructs/index.ts";
import type { Claim } from "../engine/index.ts";
import { fileReader } from "../model/index.ts";
import { ownerAt, selectedWorkspace, stateOwner } from "../model/state-owner.ts";
import type { EnvironmentOnDisk } from "./context.ts";

/** The name of the Terraform state that this project has of an environment, or would have: `deploy` goes on with `up`'s. */
export function ownerOf({ root, environment: { name, backend }, context }: EnvironmentOnDisk): string {
  const workspace = selectedWorkspace(name, fileReader(root), context.env);
  const owner = stateOwner({ environment: name, backend: backendKey(name, backend), workspace });
  return ownerAt(owner, realpathSync(root));
}

/** Work without Terraform on a cluster that a state elsewhere has is refused; none is recorded, for there is no state. */
export function claimOf(place: EnvironmentOnDisk): Claim {
  return { owner: ownerOf(place), isNew: true, joins: false, applies: 0, onlyCheck: true };
}
