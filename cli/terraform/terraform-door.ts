// SPDX-License-Identifier: Apache-2.0
import { basename, join } from "node:path";
import * as z from "zod";
import { eventFileVariable, systemTiming, type ToldEvent } from "../../talos/cluster/index.ts";
import { type Environment, machinesOf } from "../../talos/environment/index.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { clientFiles } from "../helper/client-files.ts";
import { refuseOtherKind } from "../helper/machines.ts";
import { plainLines } from "../output/plain-lines.ts";
import type { Deployed } from "../output/summary.ts";
import { dangersIn } from "./dangers.ts";
import { orphanHolding } from "./file-lock.ts";
import { withFollowedEvents } from "./follow-events.ts";
import { keepingState } from "./keep-state.ts";
import { onlyClustersRefused } from "./plan-faults.ts";
import { eventsBeside, type RunAction, withPlanFile } from "./plan-file.ts";
import { unseenIn } from "./plan-warnings.ts";
import { prepareExistingStack, prepareStack, removeStack, stackDirectory } from "./prepare-stack.ts";
import { readState, removeState, removeUnwritten, stateFile } from "./state-file.ts";
import { type Planned, Terraform } from "./terraform.ts";

export interface DoorOptions {
  readonly root: string;
  readonly environment: Environment;
  /** terraform or tofu. */
  readonly binary: string;
  readonly approval: ApprovalFlags;
  readonly context: CommandContext;
}

export interface DeployOutcome {
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

export async function deployWithTerraform(options: DoorOptions): Promise<DeployOutcome> {
  await refuseOtherKind(options.root, options.environment);
  return change(await openStack(options), [], options, `Apply these changes to ${options.environment.name}?`, "yes");
}

/** Shows terraform's own plan; true when it holds changes. */
export async function planWithTerraform(options: DoorOptions): Promise<boolean> {
  await refuseOtherKind(options.root, options.environment);
  const terraform = await openStack(options);
  const show = (text: string) => options.context.stdout.write(text);
  return withPlanFile(stackOf(options), async (file) => {
    const { changes } = await terraform.plan(file, colour(options.context), show);
    if (changes) show(dangersIn(await terraform.showPlan(file)));
    return changes;
  });
}

/** False when it was declined. */
export async function destroyWithTerraform(options: DoorOptions): Promise<boolean> {
  const { root, environment } = options;
  const question = `Destroy everything in ${environment.name}? There is no way back.`;
  const terraform = await openStack(options, prepareExistingStack);
  const { did } = await change(terraform, ["-destroy"], options, question, environment.name);
  if (did === "declined") return false;
  await removeState(stateFile(root, environment.name));
  await removeStack(root, environment.name);
  return true;
}

/** What the applied stack says of itself. */
export async function readDeployed(options: DoorOptions): Promise<Omit<Deployed, "seconds" | "door" | "unseen">> {
  const { environment } = options;
  const joined = clientFiles(environment.joins?.name ?? environment.name);
  const found = outputs.parse(await terraformOf(options).outputs());
  const addresses = [...found.control_plane_ips, ...found.worker_ips];
  return {
    environment: environment.name,
    talosVersion: environment.cluster.talosVersion,
    kubernetesVersion: environment.cluster.kubernetesVersion,
    machines: machinesOf(environment).map(({ name, role }, i) => ({ name, role, address: addresses[i] ?? "" })),
    endpoint: found.cluster_endpoint,
    kubeconfigPath: found.kubeconfig_path ?? joined.kubeconfig,
    talosconfigPath: found.talosconfig_path ?? joined.talosconfig,
  };
}

async function openStack(options: DoorOptions, prepare = prepareStack): Promise<Terraform> {
  const state = stateFile(options.root, options.environment.name);
  await awaitOrphan(state, options);
  await removeUnwritten(state);
  await readState(state);
  await prepare(options.root, options.environment.name, options.context);
  const terraform = terraformOf(options);
  await terraform.init();
  return terraform;
}

const longestOrphan = 300_000;

/** terraform outlives a talosmith that was killed, for as long as it takes to notice; then the rerun goes on. */
async function awaitOrphan(state: string, { binary, context: { stderr, signal } }: DoorOptions): Promise<void> {
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

function stackOf({ root, environment }: DoorOptions): string {
  return stackDirectory(root, environment.name);
}

function terraformOf({ root, environment, binary, context }: DoorOptions): Terraform {
  return new Terraform({
    binary,
    directory: stackDirectory(root, environment.name),
    env: context.env,
    signal: context.signal,
  });
}

/** Plan, show and ask unless told not to, apply exactly that plan. */
async function change(
  terraform: Terraform,
  args: readonly string[],
  options: DoorOptions,
  question: string,
  answer: string,
): Promise<DeployOutcome> {
  const { context, approval } = options;
  const show = approval.yes ? undefined : (text: string) => context.stderr.write(text);
  return withPlanFile(stackOf(options), async (file) => {
    const { changes, warnings } = await planChange(terraform, file, [...args, ...colour(context)], options, show);
    if (show === undefined && warnings !== "") context.stderr.write(`\n${warnings}\n`);
    const names = machinesOf(options.environment).map(({ name }) => name);
    const unseen = unseenIn(warnings, names);
    if (!changes) return { did: "unchanged", unseen };
    show?.(dangersIn(await terraform.showPlan(file)));
    if (!(await approved(question, answer, approval, context))) return { did: "declined", unseen };
    const apply = () => applyAloud(terraform, file, args.includes("-destroy") ? "destroy" : "deploy", options);
    const warn = (message: string) => context.stderr.write(`Warning: ${message}\n`);
    const { root, environment } = options;
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
  { context }: DoorOptions,
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
  options: DoorOptions,
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
