// SPDX-License-Identifier: Apache-2.0
import { recordedOwner, type Step, systemTiming, type Timing } from "../engine/index.ts";
import { type Environment, fileReader, listEnvironments, parseEnvironment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { openBackups, takeAndPrune } from "../workspace/backups.ts";
import { withPlannedChange } from "../workspace/change.ts";
import type { WorkspaceContext } from "../workspace/context.ts";
import { deployWithoutTerraform } from "../workspace/deploy.ts";
import { runsWithoutTerraform } from "../workspace/machine-source.ts";
import { type Manager, managerName, managerOf } from "../workspace/manager.ts";
import type { ProgressListener } from "../workspace/planned-change.ts";
import type { OpenOptions } from "../workspace/project.ts";
import { Workspace } from "../workspace/workspace.ts";
import { readConditions, writeConditions } from "./condition-file.ts";
import { refusalOf } from "./decide.ts";
import { type ClusterObservation, closedWindow, observeCluster } from "./observe-cluster.ts";
import type { ObservedProject } from "./watcher.ts";

/** The project as the operator needs it. `names`: only these; none means all that there are. */
export function openWatchedProject(root: string, names: readonly string[], context: WorkspaceContext) {
  const workspaceOf = (environment: Environment, signal: AbortSignal) =>
    new Workspace({ root, environment, context: { ...context, signal } });
  const open = clusterOpener(workspaceOf, systemTiming);
  return {
    ...observedFiles(root),
    /** The environments to watch. */
    environmentNames: (): readonly string[] => (names.length > 0 ? names : listEnvironments(root)),
    async observe(environment: Environment, signal: AbortSignal): Promise<ClusterObservation> {
      await workspaceOf(environment, signal).clientFiles.fetch();
      const workspace = await open(environment, signal);
      const observation = await observeCluster(workspace);
      const { obstacle, manager } = await repairerOf(workspace, observation);
      return { ...observation, ...given({ manager, obstacle: (await exchangeUnderWay(workspace)) ?? obstacle }) };
    },
    /** Brings the machines to what the file says, through what manages the cluster. */
    async repair(environment: Environment, listener: RepairListener, signal: AbortSignal): Promise<RepairOutcome> {
      const workspace = workspaceOf(environment, signal);
      const manager = await managerOf(workspace, existing);
      if (manager.kind === "terraform") return repairThrough(manager, workspace, listener);
      const { review, begun, events } = listener;
      begun();
      await deployWithoutTerraform(workspace, events, { review });
      return { kind: "repaired" };
    },
    async backup(environment: Environment, onRetry: (reason: string) => void, signal: AbortSignal) {
      return takeAndPrune(await openBackups(workspaceOf(environment, signal)), onRetry);
    },
  };
}

export interface RepairListener {
  /** Sees the steps of every round of the engine, and throws to refuse them. */
  readonly review: (steps: readonly Step[]) => void;
  /** Called before the first change. */
  readonly begun: () => void;
  readonly events: ProgressListener;
}

export type RepairOutcome =
  | { readonly kind: "repaired" }
  /** Terraform plans no change. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly reason: string };

export type WatchedProject = ReturnType<typeof openWatchedProject>;

/** The files that every watcher reads, whatever it is for. */
export function observedFiles(root: string, options: OpenOptions = {}): Omit<ObservedProject, "observe"> {
  return {
    load: environmentCache(fileReader(root), options),
    readConditions: (name) => readConditions(root, name),
    writeConditions: (name, conditions) => writeConditions(root, name, conditions),
  };
}

/** Milliseconds for which the content of a remote state counts: to read it takes an init. */
const stateLasts = 10 * 60_000;

/** Opens clusters; those that only a remote state knows of, not with every look. The time of day may be set meanwhile. */
export function clusterOpener(
  workspaceOf: (environment: Environment, signal: AbortSignal) => Workspace,
  timing: Pick<Timing, "elapsed">,
  lasts = stateLasts,
): (environment: Environment, signal: AbortSignal) => Promise<Workspace> {
  const known = new Map<string, { readonly of: Environment; readonly at: number; readonly workspace: Workspace }>();
  return async (environment, signal) => {
    const { name, kind, backend } = environment;
    const now = timing.elapsed();
    const last = known.get(name);
    if (last?.of === environment && now - last.at < lasts) return last.workspace.until(signal);
    const workspace = workspaceOf(environment, signal);
    await workspace.deployed();
    if (!runsWithoutTerraform(kind) && backend.kind !== "local")
      known.set(name, { of: environment, at: now, workspace });
    return workspace;
  };
}

/** Whoever began it takes the machines through it, pass by pass; a repair between two passes would cut somebody off. */
async function exchangeUnderWay(workspace: Workspace): Promise<string | undefined> {
  const { secrets } = await workspace.deployed();
  if (secrets.rotation === undefined) return undefined;
  return `its CAs are being exchanged; if nobody is at it any more: talosmith rotate-ca ${workspace.name} --dry-run=false`;
}

/** What is observed exists: where no state has it, it was made without Terraform. */
const existing = { existing: true, stateless: true };

/** What repairs a cluster, or why nothing here does. */
async function repairerOf(
  workspace: Workspace,
  { obstacle, observed }: ClusterObservation,
): Promise<Pick<ClusterObservation, "obstacle" | "manager">> {
  try {
    const manager = await managerOf(workspace, existing);
    if (manager.kind === "terraform") return given({ obstacle, manager: managerName(manager) });
    // Only an apply of Terraform leaves a record: its state lies in another checkout, or is lost.
    const owner = await recordedOwner(await workspace.engineOptions(), observed);
    const elsewhere = `it is managed by a Terraform state that is not in this project: ${owner}`;
    return given({ obstacle: owner === undefined ? obstacle : elsewhere });
  } catch (error) {
    if (workspace.context.signal.aborted) throw error;
    return { obstacle: TalosError.from(error).message };
  }
}

/** Plans, and applies that plan unless it needs a person. */
function repairThrough(
  manager: Manager,
  workspace: Workspace,
  { begun, events }: RepairListener,
): Promise<RepairOutcome> {
  return withPlannedChange(workspace, manager, { intent: "deploy" }, async ({ review, isEmpty, apply }) => {
    if (isEmpty) return { kind: "unchanged" };
    const reason = refusalOf(review, given({ closed: closedWindow(workspace) }));
    if (reason !== undefined) return { kind: "refused", reason };
    begun();
    await apply(events);
    return { kind: "repaired" };
  });
}

type ParseOptions = Parameters<typeof parseEnvironment>[2];
type ReadFile = (file: string) => string | undefined;

interface Known {
  /** Every file that was asked for, with what it held. */
  readonly files: ReadonlyMap<string, string | undefined>;
  readonly outcome: { readonly environment: Environment } | { readonly error: unknown };
}

/** Loads environments again only when a file that they are made of has changed; whoever asks every few seconds may. */
export function environmentCache(read: ReadFile, options?: ParseOptions): (name: string) => Environment {
  const cache = new Map<string, Known>();
  return (name) => {
    let known = cache.get(name);
    if (known === undefined || [...known.files].some(([file, text]) => read(file) !== text)) {
      known = load(name, read, options);
      cache.set(name, known);
    }
    if ("error" in known.outcome) throw known.outcome.error;
    return known.outcome.environment;
  };
}

function load(name: string, read: ReadFile, options: ParseOptions): Known {
  const files = new Map<string, string | undefined>();
  const noting: ReadFile = (file) => {
    const text = read(file);
    files.set(file, text);
    return text;
  };
  try {
    return { files, outcome: { environment: parseEnvironment(name, noting, options) } };
  } catch (error) {
    return { files, outcome: { error } };
  }
}
