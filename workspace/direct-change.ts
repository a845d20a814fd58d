// SPDX-License-Identifier: Apache-2.0
import {
  type DesiredCluster,
  type ObservedCluster,
  type ObservedMachine,
  outlineOf,
  type Preview,
  plan,
  planDestroy,
  previewCluster,
  refusals,
  refuseErrors,
  type Step,
} from "../engine/index.ts";
import { machinesOf } from "../model/index.ts";
import { type Change, changeOf, type Plan, planWith, reviewPlan } from "../review/index.ts";
import { endsSoon } from "../talos/client-file.ts";
import type { ClientFile } from "../talos/config/index.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { clientFileNames } from "./client-files.ts";
import { environmentSpec } from "./cluster-spec.ts";
import { dayTwoChanges } from "./day-two-changes.ts";
import { deployWithoutTerraform, destroyOptions, destroyWithoutTerraform, refuseUnplannable } from "./deploy.ts";
import { absentMachines, isBegun, type MachineAddresses } from "./machines.ts";
import { planNotes } from "./plan-notes.ts";
import type { ChangeOptions, PlannedChange, ProgressListener } from "./planned-change.ts";
import type { Workspace } from "./workspace.ts";

/** Plans what talosmith does itself, in the form that Terraform's plans are read into. */
export async function withDirectChange<T>(
  workspace: Workspace,
  { intent }: ChangeOptions,
  work: (planned: PlannedChange) => Promise<T>,
): Promise<T> {
  return work(intent === "deploy" ? await plannedDeploy(workspace) : await plannedDestroy(workspace));
}

async function plannedDeploy(workspace: Workspace): Promise<PlannedChange> {
  const direct = await planDirectly(workspace);
  const { observed, desired, steps, missing, unseen, unready } = direct;
  const changed = [
    ...machineChanges(workspace, missing, "create"),
    ...machineChanges(
      workspace,
      desired.leaving.map(({ name }) => name),
      "delete",
    ),
    ...(steps.length === 0 ? [] : [await clusterChange(workspace, direct)]),
  ];
  const present = await workspace.clientFiles.certificates();
  const dayTwo = await dayTwoChanges(workspace, { steps, clusterExists: exists(observed) });
  const changes = [
    ...changed,
    ...clientFileChanges(workspace, direct.staleFiles, present, changed.length > 0),
    ...dayTwo.changes,
  ];
  const shown = new Set(steps.filter(({ destructive }) => destructive).map(({ id }) => id));
  return {
    review: reviewPlan(withMembers(planWith(changes))),
    isEmpty: changes.length === 0,
    unseen: unseen.length === 0 ? undefined : unseen.map(({ name }) => name),
    warnings: [
      ...unseen.map(({ name, reason }) => `Could not observe ${name}: ${reason}`),
      ...expiryWarnings(workspace, present),
      ...dayTwo.warnings,
      ...(observed === undefined ? [] : planNotes(desired, observed)),
      // Without a cluster nothing can be ready, and without steps its whole health is shown.
      ...(steps.length === 0 || !exists(observed) ? [] : unready.map(({ message }) => `Not ready: ${message}`)),
    ],
    apply: async (events: ProgressListener) => {
      const review = (next: readonly Step[]) => refuseMore(next, shown);
      const clientFiles = changes.length > 0 && direct.staleFiles.length > 0;
      const planned = { steps: steps.length, clientFiles, backup: dayTwo.takesBackup };
      const { changed } = await deployWithoutTerraform(workspace, events, { review, planned });
      return { changed, unseen: undefined };
    },
  };
}

/** A machine may have changed since the plan was shown: what would now lose data is not done without another look. */
function refuseMore(steps: readonly Step[], shown: ReadonlySet<string>): void {
  const more = steps.filter(({ id, destructive }) => destructive && !shown.has(id));
  if (more.length === 0) return;
  throw new TalosError("conflict", `the plan has changed: ${more.map(({ sentence }) => sentence).join(", ")}`, {
    hint: "Run the same command again and review the new plan.",
  });
}

async function plannedDestroy(workspace: Workspace): Promise<PlannedChange> {
  const { environment, machines } = workspace;
  const addresses = await machines.find();
  const planned = [...machinesOf(environment), ...(await machines.surplus())];
  const found = planned.filter(({ name }) => addresses.has(name));
  const options = await destroyOptions(workspace);
  // Throws where another state has the cluster.
  const wipes = options === undefined ? [] : planDestroy(options.desired, (await previewCluster(options)).observed);
  const { name } = environment.cluster;
  const cluster = changeOf("talosmith_cluster", name, "delete", { name, machines: membersOf(found) });
  const gone = machineChanges(
    workspace,
    found.map((machine) => machine.name),
    "delete",
  );
  const files = await workspace.clientFiles.certificates();
  const changes = [
    ...(options === undefined ? [] : [cluster]),
    ...gone,
    ...fileChanges(
      workspace,
      files.map((file) => file.name),
      "delete",
    ),
  ];
  return {
    review: reviewPlan(withMembers(planWith(changes))),
    // Files may still be there when the machines are not.
    isEmpty: false,
    unseen: undefined,
    warnings: [],
    apply: async (events: ProgressListener) => {
      await destroyWithoutTerraform(workspace, events, { wipes: wipes.length });
      return { changed: true, unseen: undefined };
    },
  };
}

interface DirectPlan {
  readonly observed: ObservedCluster | undefined;
  readonly desired: DesiredCluster;
  readonly steps: readonly Step[];
  readonly missing: readonly string[];
  /** Client files that a deploy writes. */
  readonly staleFiles: readonly ClientFile[];
  readonly unseen: readonly { readonly name: string; readonly reason: string }[];
  readonly unready: Preview["unready"];
}

/** The engine's plan, with the steps of machines that do not exist yet: they will be in maintenance mode. */
async function planDirectly(workspace: Workspace): Promise<DirectPlan> {
  const { environment, machines, clientFiles } = workspace;
  await refuseUnplannable(workspace);
  const addresses = await machines.find();
  const missing = absentMachines(environment, addresses);
  const { policy } = workspace;
  if (!isBegun(environment, addresses)) {
    const desired = outlineOf(environmentSpec(environment, withNames(addresses, missing)));
    const nothing = { kind: "unreachable", reason: "the cluster does not exist yet" } as const;
    const steps = plan(desired, { machines: withMissing(desired, new Map()), kubernetes: nothing }, policy);
    return { observed: undefined, desired, steps, missing, staleFiles: clientFileNames, unseen: [], unready: [] };
  }
  const secrets = await workspace.secrets.forPlan();
  const leaving = await machines.surplus();
  const existing = await workspace.desired(secrets, addresses, { leaving });
  const preview = await previewCluster({
    ...workspace.engineOptionsFor({ desired: existing, secrets }),
    claim: workspace.claim,
  });
  refuseErrors(refusals(preview));
  const { observed, unready } = preview;
  const unseen = existing.machines.flatMap(({ name }) => {
    const state = observed.machines.get(name)?.state;
    return state?.kind === "unreachable" || state?.kind === "foreign" ? [{ name, reason: state.reason }] : [];
  });
  const desired =
    missing.length === 0 ? existing : await workspace.desired(secrets, withNames(addresses, missing), { leaving });
  // Of a cluster that was never begun, machines that are off now are waited for.
  const isNew = !exists(observed) && !(await machines.has());
  const steps =
    missing.length === 0 && !(isNew && unseen.length > 0)
      ? preview.steps
      : plan(desired, { ...observed, machines: withMissing(desired, observed.machines, isNew) }, policy);
  return { observed, desired, steps, missing, staleFiles: await clientFiles.stale(desired, secrets), unseen, unready };
}

/** A machine that does not exist yet has no address; its name stands in, because steps name machines only. */
function withNames(addresses: MachineAddresses, missing: readonly string[]): MachineAddresses {
  return new Map([...addresses, ...missing.map((name) => [name, { address: name }] as const)]);
}

/** `isNew`: the same of machines that do not answer yet. */
function withMissing(
  { machines }: Pick<DesiredCluster, "machines">,
  observed: ReadonlyMap<string, ObservedMachine>,
  isNew = false,
): ReadonlyMap<string, ObservedMachine> {
  const isThere = (name: string) => {
    const kind = observed.get(name)?.state.kind;
    return kind !== undefined && !(isNew && kind === "unreachable");
  };
  const added = machines.flatMap(({ name, role, address }): ObservedMachine[] =>
    isThere(name) ? [] : [{ name, role, address, state: { kind: "maintenance", fingerprint: "" } }],
  );
  return new Map([...observed, ...added.map((machine) => [machine.name, machine] as const)]);
}

type Values = NonNullable<Change["after"]>;

/** Machines of metal exist before and after. */
function machineChanges(
  { environment: { kind } }: Workspace,
  names: readonly string[],
  action: "create" | "delete",
): readonly Change[] {
  if (kind !== "simulated") return [];
  return names.map((name) => changeOf("talosmith_simulated_machine", name, action, { name }));
}

/** Every machine that goes was a member of the cluster: the engine removes it first. */
function withMembers(plan: Plan): Plan {
  const members = plan.changes.flatMap(({ type, address, before }) =>
    type === "talosmith_simulated_machine" && before !== null
      ? [{ address, type: "talosmith_member", values: { name: address } }]
      : [],
  );
  return { ...plan, before: members };
}

async function clusterChange(
  workspace: Workspace,
  { observed, desired, steps }: Pick<DirectPlan, "observed" | "desired" | "steps">,
): Promise<Change> {
  const { name, endpoint, kubernetesVersion, talosVersion, machines, leaving, trustOnFirstUse } = desired;
  const after: Values = {
    name,
    endpoint,
    talos_version: talosVersion.toString(),
    kubernetes_version: kubernetesVersion,
    trust_on_first_use: trustOnFirstUse,
    machines: membersOf(machines),
    steps: steps.map(({ sentence }) => sentence),
    changes: observed === undefined ? {} : await configChangesOf(workspace, desired, observed),
  };
  if (observed === undefined || !exists(observed)) return changeOf("talosmith_cluster", name, "create", after);
  const running = machines.filter((machine) => observed.machines.get(machine.name) !== undefined);
  const before = {
    ...after,
    ...runningVersions(observed, after),
    machines: membersOf([...running, ...leaving]),
  };
  return { ...changeOf("talosmith_cluster", name, "update", after), before };
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly fingerprint?: string | undefined;
}

function membersOf(machines: readonly Member[]): Values {
  return Object.fromEntries(
    machines.map(({ name, role, fingerprint }) => [name, { role, member_id: name, ...given({ fingerprint }) }]),
  );
}

function exists(observed: ObservedCluster | undefined): boolean {
  return [...(observed?.machines.values() ?? [])].some(({ state }) => state.kind === "configured");
}

/** The versions that run; of several the oldest. */
function runningVersions({ machines, kubernetes }: ObservedCluster, otherwise: Values): Values {
  const talos = [...machines.values()].flatMap(({ state }) =>
    state.kind === "configured" ? [state.talosVersion] : [],
  );
  const kubelets = kubernetes.kind === "reachable" ? kubernetes.nodes.map(({ kubeletVersion }) => kubeletVersion) : [];
  return {
    talos_version: oldest(talos) ?? otherwise.talos_version,
    kubernetes_version: oldest(kubelets)?.replace(/^v/, "") ?? otherwise.kubernetes_version,
  };
}

function oldest(versions: readonly (string | undefined)[]): string | undefined {
  const known = versions.filter((version) => version !== undefined && version !== "");
  return known.sort((left, right) => (left ?? "").localeCompare(right ?? "", "en", { numeric: true }))[0];
}

/** Configs that differ, without the values where patch files may hold secrets. */
async function configChangesOf(
  { environment }: Workspace,
  desired: DesiredCluster,
  { machines }: ObservedCluster,
): Promise<Values> {
  const { configChanges } = await import("../provider/types/index.ts");
  const before = [...machines.values()].flatMap(({ name, state }) =>
    state.kind === "configured" && state.config !== undefined ? [{ name, config: state.config }] : [],
  );
  const found = await configChanges(
    { machines: before, contract: desired.previousContract ?? desired.contract },
    desired,
  );
  if (environment.cluster.patchFiles.length === 0) return found;
  return Object.fromEntries(Object.entries(found).map(([name, lines]) => [name, lines.map(withoutValues)]));
}

/** Images are known to be none of those values, and are what an upgrade is about. */
const withoutValues = (line: string) =>
  /^[^:]*\.image: /.test(line) ? line : line.replace(/: .* → .*?( \(reboots\))?$/, ": changed$1");

type PresentFiles = Awaited<ReturnType<Workspace["clientFiles"]["certificates"]>>;

/**
 * Client files that a deploy writes. One that is missing is no change of a cluster that has all it should: the plan of a
 * fresh checkout is empty, and a deploy writes the file.
 */
function clientFileChanges(
  workspace: Workspace,
  stale: readonly ClientFile[],
  present: PresentFiles,
  clusterChanges: boolean,
): readonly Change[] {
  const names = stale.filter((name) => clusterChanges || present.some((file) => file.name === name));
  return fileChanges(workspace, names, present.length === 0 ? "create" : "update");
}

function fileChanges(
  { clientFiles: { paths } }: Workspace,
  names: readonly ClientFile[],
  action: "create" | "update" | "delete",
): readonly Change[] {
  if (names.length === 0) return [];
  const values = Object.fromEntries(names.map((name) => [`${name}_path`, paths[name]]));
  return [changeOf("talosmith_client_files", "client", action, values)];
}

function expiryWarnings({ clientFiles: { paths }, context }: Workspace, present: PresentFiles): readonly string[] {
  return present
    .filter(({ expiresAt }) => endsSoon(expiresAt, context.clock.now()))
    .map(
      ({ name, expiresAt }) => `${paths[name]} is valid until ${expiresAt.toISOString()}: the next deploy renews it.`,
    );
}
