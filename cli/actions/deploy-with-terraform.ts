// SPDX-License-Identifier: Apache-2.0
import { basename, join } from "node:path";
import * as z from "zod";
import { eventFileVariable, systemTiming, type ToldEvent } from "../../engine/index.ts";
import { type MachinePlan, machinesOf } from "../../model/index.ts";
import { parsePlan, placeholderTitle, reviewPlan } from "../../review/index.ts";
import { clientFilePaths } from "../../workspace/client-files.ts";
import type { Deployed } from "../../workspace/deploy.ts";
import { refusedConfigs } from "../../workspace/refused-configs.ts";
import { eventsBeside, type RunAction, withPlanFile } from "../../workspace/terraform/plan-file.ts";
import { prepareExistingStack, prepareStack, stackDirectory } from "../../workspace/terraform/prepare-stack.ts";
import { withFollowedEvents } from "../../workspace/terraform/run-events.ts";
import { keepingState, readState, removeUnwritten, stateFile } from "../../workspace/terraform/state-file.ts";
import { orphanHolding } from "../../workspace/terraform/state-lock.ts";
import { type Planned, Terraform } from "../../workspace/terraform/terraform.ts";
import { onlyClustersRefused, unseenIn } from "../../workspace/terraform/terraform-output.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { plainLines } from "../output/progress.ts";

interface TerraformRun {
  readonly workspace: Workspace;
  /** terraform or tofu. */
  readonly binary: string;
  readonly approval: ApprovalFlags;
  readonly context: CommandContext;
}

interface DeployOutcome {
  readonly did: "unchanged" | "changed" | "declined";
  /** As the summary of what is deployed tells it. */
  readonly unseen: Deployed["unseen"];
}

const outputs = z.object({
  cluster_endpoint: z.string(),
  // Workers that join another environment's control plane have no files of their own.
  kubeconfig_path: z.string().optional(),
  talosconfig_path: z.string().optional(),
  control_plane_ips: z.array(z.string()),
  worker_ips: z.array(z.string()),
});

export async function deployWithTerraform(options: TerraformRun): Promise<DeployOutcome> {
  await options.workspace.machines.refuseOtherKind();
  const terraform = await openStack(options);
  const question = `Apply these changes to ${options.workspace.name}?`;
  return withPatchPlaces(options, () => change(terraform, [], options, question, "yes"));
}

/** Where Terraform fails because machines would refuse their configs, it is said in which lines of the files that is. */
async function withPatchPlaces<T>({ workspace, context }: TerraformRun, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    // A config that cannot be made at all is what Terraform has reported.
    const refused = context.signal.aborted ? [] : await refusedConfigs(workspace).catch(() => []);
    for (const { message, hint } of refused) context.stderr.write(`${message}. ${hint}\n`);
    // Whatever was found, this is why the command fails.
    throw error;
  }
}

/** Shows terraform's own plan; true when it holds changes. */
export async function planWithTerraform(options: TerraformRun): Promise<boolean> {
  await options.workspace.machines.refuseOtherKind();
  const terraform = await openStack(options);
  const show = (text: string) => options.context.stdout.write(text);
  return withPatchPlaces(options, () =>
    withPlanFile(stackOf(options), async (file) => {
      const { changes } = await terraform.plan(file, colour(options.context), show);
      if (changes) show(dangersIn(await terraform.showPlan(file)));
      return changes;
    }),
  );
}

export const destroyQuestion = (name: string) => `Destroy everything in ${name}? There is no way back.`;

/** False when it was declined. */
export async function destroyWithTerraform(options: TerraformRun): Promise<boolean> {
  const { name } = options.workspace;
  const terraform = await openStack(options, prepareExistingStack);
  return (await change(terraform, ["-destroy"], options, destroyQuestion(name), name)).did !== "declined";
}

/** What the applied stack says of itself. */
export async function readDeployed(options: TerraformRun): Promise<Omit<Deployed, "seconds" | "runner" | "unseen">> {
  const { environment } = options.workspace;
  const joined = clientFilePaths(environment.joins?.name ?? environment.name);
  const found = outputs.parse(await terraformOf(options).outputs());
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

async function openStack(options: TerraformRun, prepare = prepareStack): Promise<Terraform> {
  const { root, name } = options.workspace;
  const state = stateFile(root, name);
  await awaitOrphan(state, options);
  await removeUnwritten(state);
  await readState(state);
  await prepare(root, name, options.context);
  const terraform = terraformOf(options);
  await terraform.init();
  return terraform;
}

const longestOrphan = 300_000;

/** terraform outlives a talosmith that was killed, for as long as it takes to notice; then the rerun goes on. */
async function awaitOrphan(state: string, { binary, context: { stderr, signal } }: TerraformRun): Promise<void> {
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

function stackOf({ workspace: { root, name } }: TerraformRun): string {
  return stackDirectory(root, name);
}

function terraformOf(options: TerraformRun): Terraform {
  const { env, signal } = options.context;
  return new Terraform({ binary: options.binary, directory: stackOf(options), env, signal });
}

/** Plan, show and ask unless told not to, apply exactly that plan. */
async function change(
  terraform: Terraform,
  args: readonly string[],
  options: TerraformRun,
  question: string,
  answer: string,
): Promise<DeployOutcome> {
  const { context, approval } = options;
  const show = approval.yes ? undefined : (text: string) => context.stderr.write(text);
  return withPlanFile(stackOf(options), async (file) => {
    const { changes, warnings } = await planChange(terraform, file, [...args, ...colour(context)], options, show);
    if (show === undefined && warnings !== "") context.stderr.write(`\n${warnings}\n`);
    const names = machinesOf(options.workspace.environment).map(({ name }) => name);
    const unseen = unseenIn(warnings, names);
    if (!changes) return { did: "unchanged", unseen };
    show?.(dangersIn(await terraform.showPlan(file)));
    if (!(await approved(question, answer, approval, context))) return { did: "declined", unseen };
    const apply = () => applyAloud(terraform, file, args.includes("-destroy") ? "destroy" : "deploy", options);
    const warn = (message: string) => context.stderr.write(`Warning: ${message}\n`);
    const { root, environment } = options.workspace;
    const healthy =
      environment.backend.kind === "local"
        ? await keepingState(stateFile(root, environment.name), warn, apply)
        : await apply();
    return { did: "changed", unseen: healthy ? undefined : unseen };
  });
}

/**
 * Terraform plans what the file asks for before it plans a destroy, and our cluster may refuse that: an older version,
 * another name. Who destroys it asks for nothing of the kind, and Terraform leaves it out with the refresh.
 */
async function planChange(
  terraform: Terraform,
  file: string,
  args: readonly string[],
  { context }: TerraformRun,
  show?: (text: string) => void,
): Promise<Planned> {
  try {
    return await terraform.plan(file, args, show);
  } catch (error) {
    if (!args.includes("-destroy") || context.signal.aborted) throw error;
    if (!onlyClustersRefused(await terraform.planReport(args))) throw error;
    // Where the cluster is protected, say, this is refused as well.
    const planned = await terraform.plan(file, [...args, "-refresh=false"], show);
    context.stderr.write(
      "The file asks for a change that is refused; it is left alone, and what there is is destroyed.\n",
    );
    return planned;
  }
}

/**
 * Terraform says of a cluster only that it takes time; the engine inside of the provider tells its steps. True when the
 * engine has seen the whole cluster healthy meanwhile.
 */
async function applyAloud(
  terraform: Terraform,
  plan: string,
  action: RunAction,
  options: TerraformRun,
): Promise<boolean> {
  const { stderr, signal } = options.context;
  const file = join(stackOf(options), eventsBeside(plan, action));
  const line = plainLines((text) => stderr.write(`${text}\n`));
  let heard = false;
  let healthy = false;
  const tell = (event: ToldEvent) => {
    heard = true;
    if (event.type === "healthy") healthy = true;
    line(event);
  };
  const isTold = (address: string): boolean => {
    const told = heard && /^(?:.*\.)?talosmith_(?:cluster|member)\./.test(address);
    if (told) heard = false;
    return told;
  };
  await withFollowedEvents(file, signal, tell, (catchUp) => {
    const show = (text: string) => {
      catchUp();
      stderr.write(text);
    };
    return terraform.apply(plan, show, { env: { [eventFileVariable]: file }, isTold });
  });
  return healthy;
}

function colour(context: CommandContext): string[] {
  return context.stdout.isTerminal && context.env.NO_COLOR === undefined ? [] : ["-no-color"];
}

/**
 * What of a plan may lose data, access or quorum, or was copied and never replaced, as lines for people; empty when
 * nothing is. It stands below terraform's own words, of which there may be hundreds of lines, and above the question.
 */
export function dangersIn(plan: string): string {
  const lines = reviewPlan(parsePlan(plan, "the plan")).findings.flatMap(({ level, title, address, sentence }) => {
    if (level !== "danger" && title !== placeholderTitle) return [];
    return [`${level === "danger" ? "DANGER " : ""}${title}: ${address}: ${sentence}`];
  });
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}
