// SPDX-License-Identifier: Apache-2.0
// What is done to a cluster, through what manages it: the same work as `talosmith deploy` and `destroy`.
import type { Step, ToldEvent } from "../engine/index.ts";
import { given } from "../talos/given.ts";
import { closedWindow, refusalOf } from "../watch/index.ts";
import { withPlannedChange } from "../workspace/change.ts";
import { deployWithoutTerraform, destroyWithoutTerraform } from "../workspace/deploy.ts";
import { runsWithoutTerraform } from "../workspace/machine-source.ts";
import { managerOf } from "../workspace/manager.ts";
import type { OpenCluster } from "./cluster-project.ts";

interface DeployOptions {
  readonly events: (event: ToldEvent) => void;
  /** Sees the steps of every round, and throws to refuse them. */
  readonly review: (steps: readonly Step[]) => void;
  readonly name: "Create" | "Update";
  readonly signal: AbortSignal;
}

export type DeployOutcome = { readonly kind: "done" } | { readonly kind: "refused"; readonly reason: string };

/** Brings a cluster to its spec, from nothing where there is none. */
export async function deployCluster(
  open: OpenCluster,
  { events, review, name, signal }: DeployOptions,
): Promise<DeployOutcome> {
  const workspace = open.workspace(signal);
  const manager = await managerOf(workspace, newWithoutTerraform(open));
  if (manager.kind === "talosmith") {
    await deployWithoutTerraform(workspace, events, { review });
    return { kind: "done" };
  }
  return withPlannedChange(workspace, manager, { intent: "deploy" }, async ({ review: plan, isEmpty, apply }) => {
    if (isEmpty) return { kind: "done" };
    // What is created for the first time has nothing that could be lost.
    const reason =
      name === "Create"
        ? undefined
        : refusalOf(plan, { anyResource: true, ...given({ closed: closedWindow(workspace) }) });
    if (reason !== undefined) return { kind: "refused", reason };
    await apply(events);
    return { kind: "done" };
  });
}

interface DestroyOptions {
  readonly events: (event: ToldEvent) => void;
  readonly signal: AbortSignal;
}

/** Wipes the machines of a cluster, and removes those that talosmith or Terraform has made. */
export async function destroyCluster(open: OpenCluster, { events, signal }: DestroyOptions): Promise<void> {
  const workspace = open.workspace(signal);
  const manager = await managerOf(workspace, newWithoutTerraform(open));
  if (manager.kind === "talosmith") {
    const { size } = await workspace.machines.find();
    return destroyWithoutTerraform(workspace, events, { wipes: size });
  }
  await withPlannedChange(workspace, manager, { intent: "destroy" }, async ({ apply }) => {
    await apply(events);
  });
}

/** Terraform is for the kinds that need it: its state is one more thing to keep. */
const newWithoutTerraform = ({ environment: { kind } }: OpenCluster) =>
  runsWithoutTerraform(kind) ? { withoutTerraform: true } : {};
