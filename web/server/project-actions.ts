// SPDX-License-Identifier: Apache-2.0

import { drillVerdict } from "../../engine/backup/index.ts";
import { type EngineOptions, maintainMachine, planMaintenance, previewCluster } from "../../engine/index.ts";
import { sizeOf } from "../../workspace/amounts.ts";
import { openBackups, takeBackup } from "../../workspace/backups.ts";
import { drillBackup } from "../../workspace/drill.ts";
import type { ProgressListener } from "../../workspace/planned-change.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Action, ActionPlan, PlannedStep } from "../shared/wire.ts";
import { type ChangeAction, isChange, performChange, planChange, planId } from "./change-action.ts";
import { plannedStep } from "./operation-view.ts";

type Task = Exclude<Action, ChangeAction>;

/** What an action of the web console would do, from the same plans that the commands show. */
export async function planAction(workspace: Workspace, action: Action): Promise<ActionPlan> {
  if (isChange(action)) return planChange(workspace, action);
  const steps = (await taskSteps(workspace, action)).map(plannedStep);
  const loses = steps.some(({ destructive }) => destructive);
  const confirm = loses ? workspace.environment.cluster.name : null;
  return {
    id: planId(workspace, action, steps),
    manager: "talosmith",
    steps,
    findings: [],
    warnings: [],
    confirm,
  };
}

/** Does it, unless `review` throws for its plan. The answer says what came of it, where the steps do not. */
export async function performAction(
  workspace: Workspace,
  action: Action,
  events: ProgressListener,
  review: (plan: ActionPlan) => void = () => {},
): Promise<string | undefined> {
  if (!isChange(action)) return performTask(workspace, action, events);
  await performChange(workspace, action, events, review);
  return undefined;
}

/** Work that changes nothing of what a cluster consists of. */
async function taskSteps(workspace: Workspace, task: Task): Promise<readonly PlannedStep[]> {
  const only = (id: string, sentence: string) => [{ id, sentence, destructive: false }];
  switch (task.kind) {
    case "backup": {
      const { store } = await openBackups(workspace);
      return only("backup", `take a snapshot of etcd and put it into ${store.place}`);
    }
    case "drill":
      await openBackups(workspace);
      return only("drill", `restore ${task.backup} into a simulator of its own and compare what comes out`);
    default: {
      const options = await owned(workspace);
      const { observed } = await previewCluster(options);
      return planMaintenance(task.kind, task.machine, options.desired, observed, options.policy);
    }
  }
}

async function performTask(workspace: Workspace, task: Task, events: ProgressListener): Promise<string | undefined> {
  switch (task.kind) {
    case "backup": {
      const tell = (reason: string) =>
        events({ type: "warning", at: workspace.context.clock.now(), message: `again after: ${reason}` });
      const { id, bytes, revision, hash } = await takeBackup(await openBackups(workspace), tell);
      return `${id}: ${sizeOf(bytes)}, revision ${revision}, hash ${hash}: whole.`;
    }
    case "drill":
      return drillVerdict(await drillBackup(await openBackups(workspace), task.backup, events));
    default: {
      await maintainMachine(task.kind, task.machine, { ...(await owned(workspace)), events });
      return undefined;
    }
  }
}

/** For work that changes a cluster: one that another state has is refused, as by the commands. */
async function owned(workspace: Workspace): Promise<EngineOptions> {
  return { ...(await workspace.engineOptions()), claim: workspace.claim };
}
