// SPDX-License-Identifier: Apache-2.0
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import {
  applyCluster,
  creationSteps,
  destroyCluster,
  type EngineOptions,
  journalPath,
  lockFileFor,
  refuseDestroy,
  refuseErrors,
  type ToldEvent,
  usesKubernetes,
  withLock,
} from "../engine/index.ts";
import { type Environment, patchLists } from "../model/index.ts";
import { given } from "../talos/given.ts";
import { deployAddons, readAddons } from "./addons.ts";
import { openBackups, takeAndPrune } from "./backups.ts";
import { recordContract } from "./machine-record.ts";
import { absentMachines, isBegun } from "./machines.ts";
import { refusedConfigs } from "./refused-configs.ts";
import { removeStack } from "./terraform/prepare-stack.ts";
import type { Workspace } from "./workspace.ts";

export interface DeployedMachine {
  readonly name: string;
  readonly role: "controlplane" | "worker";
  readonly address: string;
}

export interface Deployed {
  readonly environment: string;
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly machines: readonly DeployedMachine[];
  /** Machines that could not be checked, none if it is not known which; undefined when everything was seen. */
  readonly unseen?: readonly string[] | undefined;
  readonly endpoint: string;
  readonly kubeconfigPath: string;
  readonly talosconfigPath: string;
  readonly seconds: number;
  /** What did the work: "terraform", "tofu" or "talosmith". */
  readonly runner: string;
}

interface DeployOptions {
  readonly review?: EngineOptions["review"] | undefined;
  /** What was planned, for progress; `backup`: take one at the end. @default - not known, and no backup is taken */
  readonly planned?: { readonly steps: number; readonly clientFiles: boolean; readonly backup: boolean };
}

/** Makes the machines, brings the cluster up and writes the client files, all without Terraform. */
export function deployWithoutTerraform(
  workspace: Workspace,
  events: (event: ToldEvent) => void,
  options: DeployOptions = {},
): Promise<{ readonly changed: boolean }> {
  return alone(workspace, "deploy", events, () => deployAlone(workspace, events, options));
}

/** One run at a time from the first machine on: a cluster's own lock needs secrets, and is free while machines are made. */
function alone<T>(
  { root, name, context: { clock } }: Workspace,
  what: string,
  events: (event: ToldEvent) => void,
  work: () => Promise<T>,
): Promise<T> {
  const waiting = (message: string) => events({ type: "waiting", at: clock.now(), message });
  return withLock(lockFileFor(join(realpathSync(root), name)), { what: `${what} of ${name}`, waiting }, work);
}

async function deployAlone(
  workspace: Workspace,
  events: (event: ToldEvent) => void,
  { review, planned }: DeployOptions,
): Promise<{ readonly changed: boolean }> {
  const { machines, clientFiles } = workspace;
  const addons = await readAddons(workspace);
  await refuseUnplannable(workspace);
  // Before the machines: a run that is killed in between leaves no machine without secrets.
  const secrets = await workspace.secrets.ensure();
  const missing = creationSteps(absentMachines(workspace.environment, await machines.find()));
  const report = reporter(workspace, events);
  const files = planned?.clientFiles ? [clientFileStep] : [];
  const backup = planned?.backup ? [backupStep] : [];
  const leaving = await machines.surplus();
  const gone = removalSteps(
    workspace,
    leaving.map((machine) => machine.name),
  );
  report.planned([...missing, ...gone, ...files, ...backup], planned?.steps ?? null);
  const addresses = await machines.ensure();
  for (const step of missing) report.finished(step);
  const desired = await workspace.desired(secrets, addresses, { leaving });
  const options = { ...workspace.engineOptionsFor({ desired, secrets }), events, claim: workspace.claim };
  const { steps } = await applyCluster(review === undefined ? options : { ...options, review });
  await recordContract(workspace.root, workspace.environment);
  const left = leaving.map(({ name }) => name);
  await machines.remove(left);
  for (const step of gone) report.finished(step);
  const written = await clientFiles.ensure(desired, secrets);
  if (written > 0) report.finished(clientFileStep);
  const released = usesKubernetes(workspace.policy)
    ? await deployAddons(addons, workspace, { desired, secrets }, events)
    : 0;
  for (const step of backup) {
    await takeAndPrune(await openBackups(workspace), report.retrying);
    report.finished(step);
  }
  return { changed: steps.length + left.length + released + written + backup.length > 0 };
}

const clientFileStep = { id: "client-files", sentence: "create client files", destructive: false };
const noClientFilesStep = { id: "client-files", sentence: "destroy client files", destructive: true };
const backupStep = { id: "backup", sentence: "take a backup", destructive: false };

type SmallStep = Omit<NonNullable<ToldEvent["steps"]>[number], "machine"> & { readonly machine?: string };

/** Reports what is done outside of the engine, in the form of its steps. */
function reporter({ context: { clock } }: Workspace, events: (event: ToldEvent) => void) {
  return {
    planned(steps: readonly SmallStep[], coming: number | null): void {
      if (steps.length > 0)
        events({ type: "planned", at: clock.now(), message: "machines and files to change", steps, coming });
    },
    retrying(reason: string): void {
      events({ type: "warning", at: clock.now(), message: `Backup is tried again: ${reason}` });
    },
    finished({ id, sentence, machine }: SmallStep): void {
      const about = given({ machine });
      events({ type: "step-finished", at: clock.now(), message: sentence, step: { id }, ...about });
    },
  };
}

/** What a deploy without Terraform has left. */
export async function deployedDirectly(workspace: Workspace): Promise<Omit<Deployed, "seconds" | "runner" | "unseen">> {
  const { desired } = await workspace.deployed();
  const { kubeconfig, talosconfig } = workspace.clientFiles.paths;
  return {
    environment: workspace.name,
    talosVersion: desired.talosVersion.toString(),
    kubernetesVersion: desired.kubernetesVersion,
    machines: desired.machines.map(({ name, role, address }) => ({ name, role, address })),
    endpoint: desired.endpoint,
    kubeconfigPath: kubeconfig,
    talosconfigPath: talosconfig,
  };
}

/** Before there is a machine: refuses configs that machines would refuse. Without patches there is nothing to refuse. */
async function refuseConfigs(workspace: Workspace): Promise<void> {
  if (patchLists(workspace.environment, workspace.read).length + workspace.environment.cluster.patchFiles.length > 0)
    refuseErrors(await refusedConfigs(workspace));
}

/**
 * Refuses to go on without the secrets file where machines run with the secrets that were in it: new secrets would not
 * fit them. Machines in maintenance mode need none.
 */
async function refuseLostSecrets({ secrets, machines }: Workspace): Promise<void> {
  if ((await secrets.find()) !== undefined) return;
  // A machine that was in the cluster and does not answer may have its config.
  const configured = await machines.configured({ unreachable: await machines.has() });
  if (configured.length === 0) return;
  throw secrets.lost(
    `${configured.join(", ")}: restore the file from your backup. New secrets would not fit: they are made only for machines in maintenance mode.`,
  );
}

/** Before a plan: throws what a deploy would refuse whatever the machines are. */
export async function refuseUnplannable(workspace: Workspace): Promise<void> {
  const { environment, machines } = workspace;
  await machines.refuseOtherKind();
  await machines.refuseOtherOwner();
  await refuseLostSecrets(workspace);
  if (!isBegun(environment, await machines.find())) await refuseConfigs(workspace);
}

/** Throws for an environment whose file has deletion protection. */
export function refuseProtected({ cluster: { name }, infrastructure: { deletionProtection } }: Environment): void {
  refuseDestroy({ name, deletionProtection });
}

interface DestroyOptions {
  /** How many machines will be wiped, for progress. */
  readonly wipes: number;
}

/** In Terraform's order: takes the client files away, resets every machine of the cluster, takes the machines away. */
export function destroyWithoutTerraform(
  workspace: Workspace,
  events: (event: ToldEvent) => void,
  options: DestroyOptions,
): Promise<void> {
  return alone(workspace, "destroy", events, () => destroyAlone(workspace, events, options));
}

async function destroyAlone(
  workspace: Workspace,
  events: (event: ToldEvent) => void,
  { wipes }: DestroyOptions,
): Promise<void> {
  const { environment, machines, clientFiles } = workspace;
  refuseProtected(environment);
  const secrets = await workspace.secrets.find();
  // Simulated machines go with the simulator; real ones would run on, though we called them gone.
  if (secrets === undefined && environment.kind !== "simulated" && (await machines.has()))
    throw workspace.secrets.lost(
      "Put its secrets file back: without it nobody can reset the machines. If they are wiped already, remove their record in state/.",
    );
  const report = reporter(workspace, events);
  const options = await destroyOptions(workspace);
  const names = [...(await machines.find()).keys(), ...(await machines.surplus()).map(({ name }) => name)];
  const gone = removalSteps(workspace, [...new Set(names)]);
  const files = (await clientFiles.certificates()).length === 0 ? [] : [noClientFilesStep];
  report.planned([...gone, ...files], wipes);
  await clientFiles.remove();
  for (const step of files) report.finished(step);
  if (options !== undefined) await destroyCluster({ ...options, events });
  await machines.remove();
  for (const step of gone) report.finished(step);
  await removeStack(workspace.root, environment.name);
}

/** Machines of other kinds are wiped, but not removed. */
function removalSteps({ environment }: Workspace, names: readonly string[]): readonly SmallStep[] {
  if (environment.kind !== "simulated") return [];
  return names.map((machine) => ({
    id: `destroy/${machine}`,
    sentence: `destroy machine ${machine}`,
    destructive: true,
    machine,
  }));
}

/** The cluster that a destroy wipes; undefined where none was begun, or its secrets are gone. */
export async function destroyOptions(workspace: Workspace): Promise<EngineOptions | undefined> {
  const { environment, machines } = workspace;
  const addresses = await machines.find();
  const secrets = await workspace.secrets.find();
  if (secrets === undefined || !isBegun(environment, addresses)) return undefined;
  // Without what the patch files hold and what main.ts adds: to wipe the machines must not need them.
  const how = { leaving: await machines.surplus(), patches: [], goes: true };
  const desired = await workspace.desired(secrets, addresses, how);
  return { ...workspace.engineOptionsFor({ desired, secrets }), claim: workspace.claim };
}

/** What the end of a cluster leaves on purpose, in one line for people; empty when that is nothing. */
export function whatStays({ root, environment, secrets, clientFiles }: Workspace): string {
  const { name, backup, cluster } = environment;
  const found = [
    ["its secrets, which the next deploy takes again", relative(root, secrets.file)],
    ["the journal of what was done", journalPath(cluster.name)],
    ["its conditions", join("generated", name, "conditions.json")],
    ...Object.values(clientFiles.paths).map((file) => ["a client file", file]),
    ["its backups", backup?.directory],
  ].filter(([, path]) => path !== undefined && existsSync(isAbsolute(path) ? path : join(root, path)));
  const places = found.map(([what, path]) => `${path} (${what})`);
  if (backup?.s3 !== undefined) places.push(`s3://${backup.s3.bucket} (its backups)`);
  return places.length === 0 ? "" : `Kept: ${places.join(", ")}.\n`;
}
