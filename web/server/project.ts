// SPDX-License-Identifier: Apache-2.0
import { isOf, listBackups } from "../../engine/backup/index.ts";
import { checkHealth, systemTiming } from "../../engine/index.ts";
import { type Environment, listEnvironments } from "../../model/index.ts";
import { parseFault } from "../../simulator/control/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { clusterOpener, observeCluster, observedFiles } from "../../watch/index.ts";
import { type BackupStatus, backupStatus, findBackups } from "../../workspace/backups.ts";
import type { WorkspaceContext } from "../../workspace/context.ts";
import { writeFirstEnvironment } from "../../workspace/environment-file.ts";
import { managerOf } from "../../workspace/manager.ts";
import type { ProgressListener } from "../../workspace/planned-change.ts";
import type { OpenOptions } from "../../workspace/project.ts";
import { simulatedMachinesOf } from "../../workspace/simulated-machines.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { stackDirectory } from "../../workspace/terraform/prepare-stack.ts";
import { type OtherRun, OtherRuns } from "../../workspace/terraform/run-events.ts";
import { type DeployedCluster, Workspace } from "../../workspace/workspace.ts";
import type { Action, ActionPlan, BackupsView, Disturbance, NewCluster, SimulatedRow } from "../shared/wire.ts";
import type { ConsoleObservation } from "./cluster-view.ts";
import { performAction, planAction } from "./project-actions.ts";

/** Milliseconds. Listing a bucket and reading a remote state cost money and time: not with every observation. */
const remoteLasts = 60_000;

/** The project as the web console's server and the dashboard need it. */
export function openConsoleProject(root: string, context: WorkspaceContext, options: OpenOptions = {}) {
  const runs = new OtherRuns();
  const workspaceOf = (environment: Environment, signal = context.signal) =>
    new Workspace({ root, environment, context: { ...context, signal } });
  const open = clusterOpener(workspaceOf, systemTiming, remoteLasts);
  const backups = new BackupLists();
  const files = observedFiles(root, options);
  const runElsewhere = ({ name }: Environment) => runs.look(stackDirectory(root, name));
  return {
    ...files,
    environmentNames: (): readonly string[] => listEnvironments(root),
    /** Throws `not-found` while the environment is not deployed. */
    openCluster: async (environment: Environment): Promise<DeployedCluster> =>
      (await open(environment, context.signal)).deployed(),
    async observe(environment: Environment, signal: AbortSignal): Promise<ConsoleObservation> {
      const workspace = await open(environment, signal);
      const [cluster, options] = [await workspace.deployed(), await workspace.engineOptions()];
      const [observation, health] = await Promise.all([
        observeCluster(workspace, async () => (await backups.of(workspace))?.status),
        checkHealth({ ...options, wait: false }),
      ]);
      return { ...observation, cluster, health };
    },
    /** Undefined when the environment has no section `backup`. Never throws: not knowing is a state. */
    backups: async (environment: Environment, signal: AbortSignal): Promise<BackupsView | undefined> =>
      (await backups.of(workspaceOf(environment, signal)))?.view,
    /** Backups may have been taken or removed. */
    forgetBackups: () => backups.forget(),
    /** Undefined unless the machines are simulated. */
    async simulatedMachines(environment: Environment): Promise<readonly SimulatedRow[] | undefined> {
      if (environment.kind !== "simulated") return undefined;
      const machines = await simulatedMachinesOf({ root, environment });
      return machines.map(({ name, stage, faults }) => ({ name, stage, faults }));
    },
    /** What Terraform does to it now, or has done last as far as it was seen. Never throws. */
    elsewhere: async (environment: Environment): Promise<OtherRun | undefined> => runElsewhere(environment),
    /** Undefined where the web console may change what the cluster consists of. */
    obstacle: (environment: Environment) => obstacleTo(workspaceOf(environment), runElsewhere(environment)),
    /** What the action would do now. Throws what is known to stand in its way. */
    plan: (environment: Environment, action: Action, signal: AbortSignal): Promise<ActionPlan> =>
      planAction(workspaceOf(environment, signal), action),
    /**
     * Does it; the answer says in words what came of it, where the steps do not. `review` sees the plan that is about to
     * be applied, and throws to refuse it.
     */
    perform: (
      environment: Environment,
      action: Action,
      events: ProgressListener,
      signal: AbortSignal,
      review?: (plan: ActionPlan) => void,
    ) => performAction(workspaceOf(environment, signal), action, events, review),
    /** Cuts a simulated machine's power or injects a fault. */
    async disturb(environment: Environment, name: string, disturbance: Disturbance): Promise<void> {
      const machine = (await simulatedMachinesOf({ root, environment })).find((candidate) => candidate.name === name);
      if (machine === undefined) throw new TalosError("not-found", `no simulated machine is called ${name}`);
      const simulator = projectSimulator(root);
      if ("power" in disturbance) await simulator.setPower(machine.id, disturbance.power);
      else await simulator.setFaults(machine.id, disturbance.fault === null ? [] : [parseFault(disturbance.fault)]);
    },
    /** Writes the file of a new environment of simulated machines. */
    async createSimulated({ name, controlPlanes, workers }: NewCluster): Promise<void> {
      await writeFirstEnvironment(root, name, { kind: "simulated", controlPlanes, workers });
    },
  };
}

export type ConsoleProject = ReturnType<typeof openConsoleProject>;

interface BackupList {
  readonly status: BackupStatus;
  readonly view: BackupsView;
}

/** The backups of each environment, as they were a moment ago. */
class BackupLists {
  readonly #known = new Map<string, { readonly at: number; readonly list: BackupList | undefined }>();

  async of(workspace: Workspace): Promise<BackupList | undefined> {
    const now = systemTiming.elapsed();
    const known = this.#known.get(workspace.name);
    if (known !== undefined && now - known.at < remoteLasts) return known.list;
    const list = await listOf(workspace);
    this.#known.set(workspace.name, { at: now, list });
    return list;
  }

  forget(): void {
    this.#known.clear();
  }
}

/** Newest first. A place that cannot be read is reported, not thrown. */
async function listOf(workspace: Workspace): Promise<BackupList | undefined> {
  const section = workspace.environment.backup;
  const status = await backupStatus(workspace);
  if (section === undefined || status === undefined) return undefined;
  const { place, last, problem } = status;
  const view = { place: place ?? section.directory ?? section.s3?.bucket ?? "", problem: problem ?? null };
  const opened = last === undefined ? undefined : await findBackups(workspace);
  if (opened === undefined) return { status, view: { ...view, backups: [] } };
  const { store, cluster, cas } = opened;
  const found = await listBackups(store, cluster, workspace.context.signal);
  const rows = found
    .filter((backup) => isOf(backup, cas))
    .map(({ id, takenAt, bytes, revision, hash, pki }) => {
      return { id, takenAt: takenAt.toISOString(), bytes, revision, hash, pki };
    });
  return { status, view: { ...view, backups: rows.reverse() } };
}

/** Why the console cannot change the cluster now: another run of Terraform, or what its manager needs is missing. */
async function obstacleTo(workspace: Workspace, run: OtherRun | undefined): Promise<string | undefined> {
  const { name } = workspace;
  if (run?.end === null) return `Terraform is at work on ${name}: wait until it has ended.`;
  try {
    await managerOf(workspace);
    return undefined;
  } catch (error) {
    return TalosError.from(error).text;
  }
}
