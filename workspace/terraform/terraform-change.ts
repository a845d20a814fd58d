// SPDX-License-Identifier: Apache-2.0
import { basename, join } from "node:path";
import * as z from "zod";
import { awaitHealthy, eventFileVariable, systemTiming, type ToldEvent } from "../../engine/index.ts";
import { type MachinePlan, machinesOf } from "../../model/index.ts";
import { isMachine, parsePlan, planWith, type Review, reviewPlan } from "../../review/index.ts";
import { clientFilePaths } from "../client-files.ts";
import type { Deployed } from "../deploy.ts";
import type { Applied, ChangeOptions, Intent, PlannedChange, ProgressListener } from "../planned-change.ts";
import { refusedConfigs } from "../refused-configs.ts";
import type { Workspace } from "../workspace.ts";
import { eventsBeside, withPlanFile } from "./plan-file.ts";
import { prepareExistingStack, prepareStack, stackDirectory } from "./prepare-stack.ts";
import { withFollowedEvents } from "./run-events.ts";
import { keepingState, readState, removeUnwritten, stateFile } from "./state-file.ts";
import { orphanHolding } from "./state-lock.ts";
import { type Planned, Terraform } from "./terraform.ts";
import { onlyClustersRefused, type Subject, stepSentence, unseenIn } from "./terraform-output.ts";

/** Plans with terraform or tofu; what is applied is the saved plan. */
export async function withTerraformChange<T>(
  workspace: Workspace,
  binary: string,
  options: ChangeOptions,
  work: (planned: PlannedChange) => Promise<T>,
): Promise<T> {
  const { intent } = options;
  if (intent === "deploy") await refuseUndeployable(workspace);
  const terraform = await openStack(workspace, binary, intent);
  return withPatchPlaces(workspace, () =>
    withPlanFile(stackOf(workspace), async (file) => {
      const { changes, warnings } = await planChange(terraform, file, options, workspace);
      const review = reviewPlan(changes ? parsePlan(await terraform.showPlan(file), "the plan") : planWith([]));
      const names = machinesOf(workspace.environment).map(({ name }) => name);
      const unseen = unseenIn(warnings, names);
      return work({
        review,
        isEmpty: !changes,
        unseen,
        warnings: warnings === "" ? [] : [warnings.trimEnd()],
        apply: async (events) => {
          if (!changes) return unchanged(workspace, intent, unseen, events);
          const shown = review.resources.filter(isStep);
          events(plannedResources(shown, workspace.context.clock.now()));
          const subjects = new Map(shown.map((resource) => [resource.address, subjectOf(resource)]));
          const healthy = await applyPlan(terraform, file, intent, { workspace, subjects, events });
          return { changed: true, unseen: healthy ? undefined : unseen };
        },
      });
    }),
  );
}

/** Before terraform is started: what its apply could report for one machine after the other at best. */
async function refuseUndeployable(workspace: Workspace): Promise<void> {
  await workspace.machines.refuseOtherKind();
  if (workspace.environment.kind !== "simulated") return;
  const { requireLoopback } = await import("../simulated-machines.ts");
  await requireLoopback(workspace);
}

/** Terraform compares nothing of health, and the health of the cluster that workers join is its own deploy's matter. */
async function unchanged(
  workspace: Workspace,
  intent: Intent,
  unseen: Deployed["unseen"],
  events: ProgressListener,
): Promise<Applied> {
  if (intent === "deploy" && unseen === undefined && workspace.environment.joins === undefined)
    await awaitHealthy({ ...(await workspace.engineOptions()), events });
  return { changed: false, unseen };
}

/** All that an apply is going to do to resources, as steps. */
function plannedResources(resources: Review["resources"], at: Date): ToldEvent {
  const steps = resources.map((resource) => ({
    id: resource.address,
    sentence: stepSentence(subjectOf(resource).name, resource.action),
    destructive: resource.action === "delete" || resource.action === "replace",
    machine: subjectOf(resource).machine,
  }));
  return { at, type: "planned", message: `${steps.length} resources to change`, steps };
}

function subjectOf(resource: Review["resources"][number]): Subject {
  if (isMachine(resource)) return { name: `machine ${resource.name}`, machine: resource.name };
  return { name: resource.type === "talosmith_client_files" ? "client files" : resource.address };
}

/** Of members and clusters the engine reports the steps. */
const isStep = ({ type }: { readonly type: string }) => type !== "talosmith_cluster" && type !== "talosmith_member";

/** Where Terraform fails because machines would refuse their configs, the lines of the files are named. */
async function withPatchPlaces<T>(workspace: Workspace, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { signal, stderr } = workspace.context;
    // A config that cannot be made at all is what Terraform has reported.
    const refused = signal.aborted ? [] : await refusedConfigs(workspace).catch(() => []);
    for (const { message, hint } of refused) stderr.write(`${message}. ${hint}\n`);
    // Whatever was found, this is why the command fails.
    throw error;
  }
}

const outputs = z.object({
  cluster_endpoint: z.string(),
  // Workers that join another environment's control plane have no files of their own.
  kubeconfig_path: z.string().optional(),
  talosconfig_path: z.string().optional(),
  control_plane_ips: z.array(z.string()),
  worker_ips: z.array(z.string()),
});

/** What the applied stack says of itself. */
export async function deployedByTerraform(
  workspace: Workspace,
  binary: string,
): Promise<Omit<Deployed, "seconds" | "runner" | "unseen">> {
  const { environment } = workspace;
  const joined = clientFilePaths(environment.joins?.name ?? environment.name);
  const found = outputs.parse(await terraformOf(workspace, binary).outputs());
  const machines = machinesOf(environment);
  const addresses = addressesByName(machines, [...found.control_plane_ips, ...found.worker_ips]);
  return {
    environment: environment.name,
    talosVersion: environment.cluster.talosVersion,
    kubernetesVersion: environment.cluster.kubernetesVersion,
    machines: machines.map(({ name, role }) => ({ name, role, address: addresses.get(name) ?? "" })),
    endpoint: found.cluster_endpoint,
    kubeconfigPath: found.kubeconfig_path ?? joined.kubeconfig,
    talosconfigPath: found.talosconfig_path ?? joined.talosconfig,
  };
}

/** Terraform lists the machines of a pool in the order of their keys: w-1, w-10, w-2. */
function addressesByName(machines: readonly MachinePlan[], addresses: readonly string[]): ReadonlyMap<string, string> {
  const pools = [...new Set(machines.map(({ pool }) => pool))];
  const names = pools.flatMap((pool) => {
    const own = machines.filter((machine) => machine.pool === pool).map(({ name }) => name);
    return own.sort((left, right) => (left < right ? -1 : 1));
  });
  return new Map(names.map((name, index) => [name, addresses[index] ?? ""]));
}

async function openStack(workspace: Workspace, binary: string, intent: Intent): Promise<Terraform> {
  const { root, name, context } = workspace;
  const state = stateFile(root, name);
  await awaitOrphan(state, workspace, binary);
  await removeUnwritten(state);
  await readState(state);
  const prepare = intent === "destroy" ? prepareExistingStack : prepareStack;
  await prepare(root, name, context);
  const terraform = terraformOf(workspace, binary);
  await terraform.init();
  return terraform;
}

const longestOrphan = 300_000;

/** terraform outlives a talosmith that was killed, for as long as it takes to notice; then the rerun goes on. */
async function awaitOrphan(state: string, { context }: Workspace, binary: string): Promise<void> {
  const { stderr, signal } = context;
  const started = performance.now();
  let said = false;
  for (;;) {
    const pid = await orphanHolding(state);
    if (pid === undefined || performance.now() - started > longestOrphan) return;
    if (!said) stderr.write(`Waiting for ${basename(binary)} (process ${pid}), which a killed run has left behind.\n`);
    said = true;
    await systemTiming.sleep(500, signal);
  }
}

function stackOf({ root, name }: Workspace): string {
  return stackDirectory(root, name);
}

function terraformOf(workspace: Workspace, binary: string): Terraform {
  const { env, signal } = workspace.context;
  return new Terraform({ binary, directory: stackOf(workspace), env, signal });
}

/**
 * Terraform plans what the file asks for before it plans a destroy, and our cluster may refuse that: an older version,
 * another name. A destroy asks for nothing of the kind, and Terraform leaves it out with the refresh.
 */
async function planChange(
  terraform: Terraform,
  file: string,
  { intent, raw, color = false }: ChangeOptions,
  { context }: Workspace,
): Promise<Planned> {
  const args = [...(intent === "destroy" ? ["-destroy"] : []), ...(color ? [] : ["-no-color"])];
  try {
    return await terraform.plan(file, args, raw);
  } catch (error) {
    if (intent !== "destroy" || context.signal.aborted) throw error;
    if (!onlyClustersRefused(await terraform.planReport(args))) throw error;
    // Where the cluster is protected, say, this is refused as well.
    const planned = await terraform.plan(file, [...args, "-refresh=false"], raw);
    context.stderr.write("The file asks for a change that is refused; it is ignored, and what exists is destroyed.\n");
    return planned;
  }
}

interface ApplyPlace {
  readonly workspace: Workspace;
  /** The resources that are steps of the run, by their addresses. */
  readonly subjects: ReadonlyMap<string, Subject>;
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
  { workspace, subjects, events }: ApplyPlace,
): Promise<boolean> {
  const { signal, stderr } = workspace.context;
  const file = join(stackOf(workspace), eventsBeside(plan, intent));
  let heard = false;
  let healthy = false;
  const tell = (event: ToldEvent) => {
    heard = true;
    if (event.type === "healthy") healthy = true;
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
        // What is done to members and clusters is reported by the engine; that they fail, by Terraform as well.
        if (event.step === undefined || event.type === "step-failed" || subjects.has(event.step.id)) events(event);
      };
      const subject = (address: string) => subjects.get(address) ?? { name: address };
      return terraform.apply(plan, {
        events: report,
        isReported,
        subjectOf: subject,
        env: { [eventFileVariable]: file },
      });
    });
  const { root, environment } = workspace;
  const warn = (message: string) => stderr.write(`Warning: ${message}\n`);
  if (environment.backend.kind === "local") await keepingState(stateFile(root, environment.name), warn, apply);
  else await apply();
  return healthy;
}
