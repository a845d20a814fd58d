// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { fileReader, patchFilesOf } from "../../model/index.ts";
import { infrastructureChanges, infrastructureLine, losesData, type Review, stepsOf } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { keepContract, removeEmptyState, withPlannedChange } from "../../workspace/change.ts";
import { refuseProtected } from "../../workspace/deploy.ts";
import { type EditedEnvironment, withNewVersions, withPoolCount } from "../../workspace/environment-file.ts";
import { type Manager, managerName, managerOf } from "../../workspace/manager.ts";
import {
  type ChangeOptions,
  isDangerous,
  noticeOf,
  type PlannedChange,
  type ProgressListener,
} from "../../workspace/planned-change.ts";
import { notDeployed } from "../../workspace/project.ts";
import { mendState } from "../../workspace/terraform/abandoned-state.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Action, ActionPlan, PlannedStep, ShapingKind } from "../shared/wire.ts";

export type ChangeAction = Extract<Action, { kind: ShapingKind }>;
type Edit = Extract<Action, { kind: "upgrade" | "scale" }>;

/** Whether an action goes through what manages the cluster. */
export function isChange(action: Action): action is ChangeAction {
  return action.kind === "apply" || action.kind === "upgrade" || action.kind === "scale" || action.kind === "destroy";
}

/** What the change would do now. */
export async function planChange(workspace: Workspace, action: ChangeAction): Promise<ActionPlan> {
  return withChange(workspace, action, undefined, async ({ plan }) => plan);
}

/** Plans, lets `review` see the plan and throw to refuse it, and applies exactly that plan. */
export async function performChange(
  workspace: Workspace,
  action: ChangeAction,
  events: ProgressListener,
  review: (plan: ActionPlan) => void,
): Promise<void> {
  const tell = (type: "waiting" | "planned" | "step-finished", message: string, more: object = {}) =>
    events({ type, at: workspace.context.clock.now(), message, ...more });
  tell("waiting", "planning");
  const waits = (reason: string) => tell("waiting", reason);
  await withChange(workspace, action, waits, async ({ plan, planned, manager, edited, edit }) => {
    review(plan);
    await edited.save();
    if (edit !== undefined) {
      tell("planned", edit.sentence, { steps: [edit] });
      tell("step-finished", edit.sentence, { step: { id: edit.id } });
    }
    await planned.apply(events);
    if (action.kind === "destroy") await removeEmptyState(edited);
    else await keepContract(edited, manager);
  });
}

interface OpenChange {
  readonly plan: ActionPlan;
  readonly planned: PlannedChange;
  readonly manager: Manager;
  /** With the environment's file as the action wants it. */
  readonly edited: Workspace;
  /** Undefined when no file changes. */
  readonly edit: PlannedStep | undefined;
}

async function withChange<T>(
  workspace: Workspace,
  action: ChangeAction,
  waits: ChangeOptions["waits"],
  work: (open: OpenChange) => Promise<T>,
): Promise<T> {
  if (action.kind === "destroy") refuseProtected(workspace.environment);
  await mendState(workspace);
  const intent = action.kind === "destroy" ? "destroy" : "deploy";
  const destroys = intent === "destroy";
  const manager = await managerOf(workspace, { existing: destroys, stateless: destroys });
  if (isEdit(action) && manager.isNew) throw notDeployed(workspace.name, "there is nothing to change");
  const edited = workspace.edited(editOf(workspace, action));
  const edit = isEdit(action) && edited.unsaved.size > 0 ? editStep(edited.unsaved, action) : undefined;
  return withPlannedChange(edited, manager, { intent, waits }, (planned) => {
    const plan = planOf(edited, managerName(manager), planned, { edit, action });
    return work({ plan, planned, manager, edited, edit });
  });
}

const isEdit = (action: ChangeAction): action is Edit => action.kind === "upgrade" || action.kind === "scale";

function editOf({ root, environment }: Workspace, action: ChangeAction): EditedEnvironment {
  if (!isEdit(action)) return { environment, texts: new Map(), before: fileReader(root) };
  if (action.kind === "scale") return withPoolCount(root, environment, action.pool, action.count);
  if (action.talosVersion === undefined && action.kubernetesVersion === undefined)
    throw new TalosError("invalid-input", "an upgrade needs a version of Talos or of Kubernetes");
  return withNewVersions(root, environment, action);
}

function editStep(texts: EditedEnvironment["texts"], action: Edit): PlannedStep {
  return { id: "edit", sentence: editSentence([...texts.keys()].join(" and "), action), destructive: false };
}

function editSentence(files: string, action: Edit): string {
  if (action.kind === "scale") return `write into ${files}: ${action.count} machines in the pool ${action.pool}`;
  const { talosVersion, kubernetesVersion } = action;
  const wanted = [talosVersion && `Talos ${talosVersion}`, kubernetesVersion && `Kubernetes ${kubernetesVersion}`];
  return `write into ${files}: ${wanted.filter(Boolean).join(", ")}`;
}

interface Asked {
  readonly edit: PlannedStep | undefined;
  readonly action: ChangeAction;
}

function planOf(workspace: Workspace, manager: string, planned: PlannedChange, { edit, action }: Asked): ActionPlan {
  const steps = [...(edit === undefined ? [] : [edit]), ...reviewSteps(planned.review)];
  const findings = planned.review.findings.map(({ level, title, sentence }) => ({ level, title, sentence }));
  const loses = action.kind === "destroy" || isDangerous(planned) || steps.some(({ destructive }) => destructive);
  const notices = [planned.rolled, noticeOf(workspace, planned)].filter((line) => line !== undefined);
  return {
    id: planId(workspace, action, manager, steps, planned.review),
    manager,
    steps,
    findings,
    warnings: [...planned.warnings, ...notices],
    confirm: loses ? workspace.environment.cluster.name : null,
  };
}

/**
 * The same for the same parts of the same files. What is shown leaves values out, and those that may be secret: the files
 * have them all.
 */
export function planId({ environment, read }: Workspace, ...parts: readonly unknown[]): string {
  const files = [environment.file, "environments/base.yaml", ...patchFilesOf(environment.cluster)];
  // As it was when it was planned, and as it is now.
  const texts = [environment, ...files.map((file) => read(file))];
  return createHash("sha256")
    .update(JSON.stringify([texts, parts]))
    .digest("hex");
}

/** A plan as a list: infrastructure first, as it is made first. */
export function reviewSteps(review: Review): readonly PlannedStep[] {
  const infrastructure = infrastructureChanges(review).map((change) => [infrastructureLine(change), change.losesData]);
  const clusters = review.clusters.flatMap((cluster) => {
    if (cluster.after === undefined) return [[`destroy cluster ${cluster.name}`, true] as const];
    const steps = stepsOf(cluster) ?? [`cluster ${cluster.name}: steps are computed during the apply`];
    return steps.map((sentence) => [sentence, losesData(sentence)] as const);
  });
  return [...infrastructure, ...clusters].map(([sentence, destructive], index) => ({
    id: String(index + 1),
    sentence: String(sentence),
    destructive: destructive === true,
  }));
}
