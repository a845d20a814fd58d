// SPDX-License-Identifier: Apache-2.0
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  awaitHealthy,
  eventFileVariable,
  refuseErrors,
  refusesConfig,
  rollVariable,
  systemTiming,
  type ToldEvent,
} from "../../engine/index.ts";
import { machinesOf } from "../../model/index.ts";
import { evenControlPlanes } from "../../model/settings/index.ts";
import {
  isInfrastructureStep,
  isMachine,
  type Plan,
  parsePlan,
  planWith,
  type Review,
  reviewPlan,
  stepsOf,
  stopsMachines,
} from "../../review/index.ts";
import type { TalosError } from "../../talos/errors.ts";
import { counted } from "../amounts.ts";
import type { ChangeOptions, Intent, PlannedChange, ProgressListener } from "../planned-change.ts";
import { refusedConfigs } from "../refused-configs.ts";
import { missingVirsh } from "../virsh.ts";
import type { Workspace } from "../workspace.ts";
import { beforeApply } from "./before-apply.ts";
import { machinesInGoneZones } from "./gone-zones.ts";
import { type HardwareRollout, hardwareRollout, refuseUnshown, rolloutSentence } from "./hardware-batches.ts";
import { keepingState, othersCreated } from "./keep-state.ts";
import { eventsBeside, withPlanFile } from "./plan-file.ts";
import { prepareExistingStack, removeUnsavedStacks, type Stack, stackDirectory, withStack } from "./prepare-stack.ts";
import { rollHardware } from "./roll-hardware.ts";
import { withFollowedEvents } from "./run-events.ts";
import { readState, removeUnwritten, stateFile } from "./state-file.ts";
import { orphanHolding } from "./state-lock.ts";
import { withStepsInCreation } from "./steps-in-creation.ts";
import { type Planned, Terraform, TerraformError } from "./terraform.ts";
import { eachWarning, onlyClustersRefused, type Subject, stepSentence, unseenIn } from "./terraform-output.ts";

/** Plans with terraform or tofu; what is applied is the saved plan. */
export async function withTerraformChange<T>(
  workspace: Workspace,
  binary: string,
  options: ChangeOptions,
  work: (planned: PlannedChange) => Promise<T>,
): Promise<T> {
  const { intent } = options;
  const missing = intent === "deploy" ? await beforeApply(workspace) : [];
  return withInitializedStack(workspace, binary, options, ({ terraform, directory }) =>
    withPlanFile(directory, async (file) => {
      const first = await planToShow(terraform, file, options, workspace);
      const { changes, review, rollout, obstacle } = first;
      const names = machinesOf(workspace.environment).map(({ name }) => name);
      const unseen = unseenIn(first.warnings, names);
      const warnings = eachWarning(first.warnings);
      return work({
        review,
        isEmpty: !changes,
        unseen,
        rolled: rollout && rolloutSentence(rollout),
        warnings: [...missing, ...warnings.filter(isOnlyTerraforms), ...(obstacle ? [obstacle.text] : [])],
        apply: async (events) => {
          if (obstacle !== undefined) throw obstacle;
          if (!changes)
            return { changed: false, unseen: (await awaitHealth(workspace, intent, events)) ? undefined : unseen };
          const shown = review.resources.filter(isInfrastructureStep);
          events({ ...plannedResources(shown, workspace.context.clock.now()), coming: comingSteps(review) });
          const subjects = new Map(shown.map((resource) => [resource.address, subjectOf(resource)]));
          // Configs that machines start with are made of them before the cluster itself is created.
          if (makesCluster(review)) await workspace.secrets.ensure();
          const place = { workspace, subjects, others: othersCreated(review), warnings, events };
          const healthy =
            rollout === undefined
              ? await applyPlan(terraform, file, intent, place)
              : await applyRolled(terraform, directory, { ...first, rollout }, place);
          // The environment's own stack follows the files that were saved.
          if (directory !== stackOf(workspace))
            await withInitializedStack(workspace.lasting, binary, { intent, waits: waitsOf(place) }, async () => {});
          const isSeen = healthy || (await awaitHealth(workspace, intent, events));
          return { changed: true, unseen: isSeen ? undefined : unseen };
        },
      });
    }),
  );
}

interface ShownPlan extends Planned {
  readonly review: Review;
  /** What is changed machine by machine, where anything is. */
  readonly rollout: HardwareRollout | undefined;
  /** Why the plan cannot be applied here. */
  readonly obstacle: TalosError | undefined;
}

/** A plan in which more machines may be stopped than Terraform may stop at once, where talosmith stops them in turn. */
async function planToShow(
  terraform: Terraform,
  file: string,
  options: ChangeOptions,
  workspace: Workspace,
): Promise<ShownPlan> {
  const rolls = options.intent === "deploy";
  const planned = await planChange(terraform, file, options, workspace, rolls);
  const plan = await readPlan(terraform, file, planned);
  const { environment } = workspace;
  const workers = machinesOf(environment).filter(({ role }) => role === "worker").length;
  const vip = environment.kind === "libvirt" ? environment.infrastructure.network.vip : undefined;
  const rollout = rolls ? hardwareRollout(plan, workspace.policy, workers, vip) : undefined;
  // Machines without a key in their address: the provider decides whether Terraform may stop them.
  if (rolls && rollout === undefined && stopsMachines(plan))
    await planChange(terraform, file, options, workspace, false);
  const review = rolls ? await withStepsInCreation(reviewPlan(plan), workspace) : reviewPlan(plan);
  return { ...planned, review, rollout, obstacle: missingVirsh(plan, workspace.context.env) };
}

async function readPlan(terraform: Terraform, file: string, { changes }: Planned): Promise<Plan> {
  return changes ? parsePlan(await terraform.showPlan(file), "the plan") : planWith([]);
}

/**
 * Machines first, batch by batch; then all the rest, by a plan that must not hold more than was shown. True when the engine has
 * seen the whole cluster healthy meanwhile.
 */
async function applyRolled(
  terraform: Terraform,
  directory: string,
  { review, rollout }: ShownPlan & { readonly rollout: HardwareRollout },
  place: ApplyPlace,
): Promise<boolean> {
  const { workspace, events } = place;
  const intent = "deploy";
  // What a batch leaves out comes with the next one.
  const quiet: ProgressListener = (event) => {
    if (event.type !== "warning" || !event.message.startsWith("Applied changes may be incomplete")) events(event);
  };
  const applyShown = (targets: readonly string[], before?: () => Promise<void>): Promise<boolean | undefined> =>
    withPlanFile(directory, async (file) => {
      const options = { intent, waits: waitsOf(place) } as const;
      const planned = await planChange(terraform, file, options, workspace, false, targets);
      if (!planned.changes) return undefined;
      refuseUnshown(review, reviewPlan(await readPlan(terraform, file, planned)), targets);
      await before?.();
      return applyPlan(terraform, file, intent, targets.length === 0 ? place : { ...place, events: quiet });
    });
  const change = async (targets: readonly string[], before: () => Promise<void>) => {
    await applyShown(targets, before);
  };
  const coming = comingSteps(review);
  await rollHardware(rollout, { workspace, events, coming, change, state: () => terraform.pullState() });
  return (await applyShown([])) ?? false;
}

/**
 * Waits for a healthy cluster where the engine has not: Terraform compares nothing of health, and machines that did not
 * answer its plan have to. False where nothing was waited for: the health of the cluster that workers join is its own
 * deploy's matter.
 */
async function awaitHealth(workspace: Workspace, intent: Intent, events: ProgressListener): Promise<boolean> {
  if (intent === "destroy" || workspace.environment.joins !== undefined) return false;
  await awaitHealthy({ ...(await workspace.engineOptions()), events });
  return true;
}

/** The steps that the engine plans once it gets to them; null where the plan does not know them. */
function comingSteps({ clusters }: Review): number | null {
  const counts = clusters.map((cluster) => wipedMachines(cluster) ?? stepsOf(cluster)?.length ?? null);
  return counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);
}

/** Whether the environment gets a cluster of its own, not workers that join another's. */
function makesCluster({ clusters }: Review): boolean {
  return clusters.some(({ change, after }) => change.action === "create" && after?.join == null);
}

/** How many machines the end of a cluster wipes; undefined where the cluster goes on, or workers leave one by one. */
function wipedMachines({ change, before, machinesBefore }: Review["clusters"][number]): number | undefined {
  if (change.action === "forget") return 0;
  if (change.action !== "delete" || before?.join != null) return undefined;
  return before?.on_destroy === "keep" ? 0 : machinesBefore.length;
}

/** All that an apply is going to do to resources, as steps. */
function plannedResources(resources: Review["resources"], at: Date): ToldEvent {
  const steps = resources.map((resource) => ({
    id: resource.address,
    sentence: stepSentence(subjectOf(resource), resource.action),
    destructive: resource.action === "delete" || resource.action === "replace",
    machine: subjectOf(resource).machine,
  }));
  return { at, type: "planned", message: `${counted(steps.length, "resource")} to change`, steps };
}

function subjectOf(resource: Review["resources"][number]): Subject {
  if (isMachine(resource)) return { name: `machine ${resource.name}`, machine: resource.name };
  if (resource.type === "talosmith_client_files") return { name: "client files" };
  // A main.ts may have others, each by its address.
  if (resource.address !== "talosmith_etcd_snapshot.backup") return { name: resource.address };
  return { name: "backup", sentence: resource.action === "delete" ? undefined : "take a backup" };
}

/** Where Terraform fails because machines would refuse their configs, the error names the lines of the files. */
async function withPatchPlaces<T>(workspace: Workspace, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isRefusal = error instanceof TerraformError && error.message.includes(refusesConfig);
    // A config that cannot be made at all is what Terraform has reported.
    if (isRefusal && !workspace.context.signal.aborted) refuseErrors(await refusedConfigs(workspace).catch(() => []));
    throw error;
  }
}

interface InitializedStack {
  readonly terraform: Terraform;
  readonly directory: string;
}

async function withInitializedStack<T>(
  workspace: Workspace,
  binary: string,
  { intent, waits }: ChangeOptions,
  work: (stack: InitializedStack) => Promise<T>,
): Promise<T> {
  const { root, name, context } = workspace;
  const state = stateFile(root, name);
  if (await isFreeOfOrphans(state, workspace, binary, waits)) removeUnsavedStacks(root, name);
  await removeUnwritten(state);
  await readState(state);
  const run = async (stack: Stack) => {
    const terraform = terraformOf(workspace, binary, stack);
    await terraform.init();
    return withPatchPlaces(workspace, () => work({ terraform, directory: stack.directory }));
  };
  if (intent === "deploy") return withStack(workspace, run);
  return run({ directory: await prepareExistingStack(root, name, context), env: {} });
}

const longestOrphan = 300_000;

/** terraform outlives a talosmith that was killed, for as long as it takes to notice; then the rerun goes on. False when it still runs. */
async function isFreeOfOrphans(
  state: string,
  { context }: Workspace,
  binary: string,
  waits: (reason: string) => void = linesTo(context),
): Promise<boolean> {
  const started = performance.now();
  for (;;) {
    const pid = await orphanHolding(state);
    if (pid === undefined) return true;
    if (performance.now() - started > longestOrphan) return false;
    waits(`waiting for ${basename(binary)} (process ${pid}), which a killed run has left behind`);
    await systemTiming.sleep(500, context.signal);
  }
}

/** One line for each other reason. */
function linesTo({ stderr }: Workspace["context"]): (reason: string) => void {
  let last = "";
  return (reason) => {
    if (reason !== last) stderr.write(`… ${reason}\n`);
    last = reason;
  };
}

function waitsOf({ events, workspace }: Pick<ApplyPlace, "events" | "workspace">): (reason: string) => void {
  return (message) => events({ at: workspace.context.clock.now(), type: "waiting", message });
}

function stackOf({ root, name }: Workspace): string {
  return stackDirectory(root, name);
}

function terraformOf(
  workspace: Workspace,
  binary: string,
  { directory, env }: Stack = { directory: stackOf(workspace), env: {} },
): Terraform {
  const { context } = workspace;
  return new Terraform({ binary, directory, env: { ...context.env, ...env }, signal: context.signal });
}

/**
 * Terraform plans what the file asks for before it plans a destroy, and our cluster may refuse that: an older version,
 * another name. A destroy asks for nothing of the kind, and Terraform leaves it out with the refresh.
 */
async function planChange(
  terraform: Terraform,
  file: string,
  { intent, raw, waits, color = false }: ChangeOptions,
  { environment, context }: Workspace,
  rolls: boolean,
  targets: readonly string[] = [],
): Promise<Planned> {
  const state = intent === "deploy" && environment.kind === "aws" ? await terraform.pullState() : "";
  const replaced = machinesInGoneZones(environment, state);
  const args = [
    ...(intent === "destroy" ? ["-destroy"] : []),
    ...replaced.filter((one) => targets.length === 0 || targets.includes(one)).map((one) => `-replace=${one}`),
    ...(color ? [] : ["-no-color"]),
    ...targets.map((target) => `-target=${target}`),
  ];
  const env: Record<string, string> = rolls ? { [rollVariable]: "true" } : {};
  const options = { show: raw, env, waits: waits ?? linesTo(context) };
  try {
    return await terraform.plan(file, args, options);
  } catch (error) {
    if (intent !== "destroy" || context.signal.aborted) throw error;
    if (!onlyClustersRefused(await terraform.planReport(args))) throw error;
    // Where the cluster is protected, say, this is refused as well.
    const planned = await terraform.plan(file, [...args, "-refresh=false"], options);
    context.stderr.write("The file asks for a change that is refused; it is ignored, and what exists is destroyed.\n");
    return planned;
  }
}

interface ApplyPlace {
  readonly workspace: Workspace;
  /** The resources that are steps of the run, by their addresses. */
  readonly subjects: ReadonlyMap<string, Subject>;
  /** Addresses of resources of other providers that the run creates. */
  readonly others: readonly string[];
  /** What the plan has warned of. */
  readonly warnings: readonly string[];
  readonly events: ProgressListener;
}

/**
 * Terraform says of a cluster only that it takes time; the engine inside of the provider reports its steps. True when the
 * engine has seen the whole cluster healthy meanwhile.
 */
async function applyPlan(
  terraform: Terraform,
  plan: string,
  intent: Intent,
  { workspace, subjects, others, warnings, events }: ApplyPlace,
): Promise<boolean> {
  const { context } = workspace;
  const { signal, stderr } = context;
  // In the environment's own stack, where other processes look for it.
  await mkdir(stackOf(workspace), { recursive: true });
  const file = join(stackOf(workspace), eventsBeside(plan, intent));
  let heard = false;
  let healthy = false;
  let hasFailed = false;
  const tell = (event: ToldEvent) => {
    heard = true;
    if (event.type === "healthy") healthy = true;
    if (event.type === "step-failed") hasFailed = true;
    events(event);
  };
  const isReported = (address: string): boolean => {
    const reported = heard && /^(?:.*\.)?talosmith_(?:cluster|member)\./.test(address);
    if (reported) heard = false;
    return reported;
  };
  const apply = () =>
    withFollowedEvents(file, signal, tell, (catchUp) => {
      const report = (event: ToldEvent) => {
        catchUp();
        // What is done to members and clusters is reported by the engine; that they fail before it has begun, by Terraform.
        const isNew = event.type === "step-failed" && !hasFailed;
        if (event.step === undefined || isNew || subjects.has(event.step.id)) events(event);
      };
      const subject = (address: string) => subjects.get(address) ?? { name: address };
      return terraform.apply(plan, {
        events: report,
        isReported,
        isShown: (warning) => warnings.includes(warning),
        subjectOf: subject,
        env: { [eventFileVariable]: file },
      });
    });
  const { root, environment } = workspace;
  const warn = (message: string) => stderr.write(`Warning: ${message}\n`);
  const path = stateFile(root, environment.name);
  if (environment.backend.kind === "local") await keepingState({ path, others, context, warn }, apply);
  else await apply();
  return healthy;
}

/** Of an even number of control planes the environment's own warning has been shown, with the line in its file. */
const isOnlyTerraforms = (warning: string) => !warning.startsWith(evenControlPlanes);
