// SPDX-License-Identifier: Apache-2.0
import { previewCluster } from "../../engine/index.ts";
import type { Review } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { Workspace } from "../workspace.ts";

/**
 * The same plan with the steps of a first deploy that goes on after an interruption. Terraform's plan asks no machine, so
 * it does not know them; here the machines are asked. Steps that cannot be known yet stay unknown.
 */
export async function withStepsInCreation(review: Review, workspace: Workspace): Promise<Review> {
  const { clusters } = review;
  const isUnknown = clusters.length === 1 && clusters[0]?.change.action === "create" && clusters[0].steps === undefined;
  const steps = isUnknown ? await stepsInCreation(workspace) : undefined;
  return steps === undefined ? review : { ...review, clusters: clusters.map((cluster) => ({ ...cluster, steps })) };
}

async function stepsInCreation(workspace: Workspace): Promise<readonly string[] | undefined> {
  try {
    // In a workspace of its own: what is there now is not what will be there after the apply.
    const { desired, secrets, absent } = await new Workspace(workspace).deployed();
    if (absent.length > 0) return undefined;
    const { steps, observed } = await previewCluster(workspace.engineOptionsFor({ desired, secrets }));
    const isSeen = [...observed.machines.values()].every(
      ({ state }) => state.kind === "configured" || state.kind === "maintenance",
    );
    return isSeen ? steps.map(({ sentence }) => sentence) : undefined;
  } catch (error) {
    // Before Terraform has made the machines there is nothing to ask.
    if (error instanceof TalosError && error.code === "not-found") return undefined;
    throw error;
  }
}
