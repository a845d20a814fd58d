// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, Finding, Renderable, Step } from "../../../engine/index.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import {
  type CreateRequest,
  DiagnosticError,
  type Diagnostics,
  isUnknown,
  type Operation,
  type PlanRequest,
  path,
  type Resource,
  type Unknown,
  type UpdateRequest,
  unknown,
} from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { clusterOf, fromOfficial } from "../official-moves.ts";
import { changedSincePlan } from "../own-files.ts";
import { heldClaim, memoryText, newClaim, removalClaim } from "../ownership.ts";
import { changedPatchFiles, changesOfFiles, MissingPatchFile, patchHashes, withPatchFiles } from "../patch-files.ts";
import { forgetCluster, isBeingCreated, markCreating, noteCluster, unmarkCreating } from "../project-notes.ts";
import { liftProtection } from "../value-rules.ts";
import { type ClusterPlan, type ClusterState, clusterAttributes } from "./attributes.ts";
import { findDrift } from "./drift.ts";
import { clusterFoundBy, importCluster } from "./import.ts";
import { numbered, planOfUpdate, stepsOfCreate } from "./planned-steps.ts";
import { bringAbout, giveUp, takeDown } from "./rollout.ts";
import { checkChange, checkWishes } from "./rules.ts";
import { poolMachinesOf, runningOf } from "./running.ts";
import { poolMachines, warnOfEnd } from "./scaling-pools.ts";
import {
  type ClusterInput,
  clusterSpec,
  joinedControlPlanes,
  leavingMachines,
  plannedContract,
  type RenderOptions,
  remadeMachines,
  renderCluster,
  replacedMachines,
  withoutOldMeta,
  withStandIns,
} from "./spec.ts";

type Schema = typeof clusterAttributes;

/** A whole cluster in one resource: the engine decides the order, not Terraform's graph. */
export const cluster: Resource<Schema, Client> = {
  name: "talosmith_cluster",
  description:
    "A whole Talos cluster: configs, bring-up, changes and end of all its machines, in an order that keeps etcd and Kubernetes alive. No secret gets into plan or state.",
  attributes: clusterAttributes,
  timeouts: { create: "30m", read: "1m", update: "2h", delete: "30m" },

  // What the last apply did is history: in the next plan it would stand among the new steps, as if taken away.
  recall: (state) => ({ ...state, steps: [], changes: {} }),

  validate: ({ config, diagnostics }) => checkWishes(config, diagnostics),

  async plan(request) {
    const values = request.prior === null ? await planCreate(request) : await planUpdate(request, request.prior);
    return { values, deferred: hasUnknownAddresses(request.planned) };
  },

  planDelete: ({ state }) => refuseProtected(state),

  async create(request) {
    const planned = await settled(request, null);
    const { client } = request;
    const secrets =
      planned.join === null
        ? await client.secrets.forCreate({
            talosVersion: planned.talos_version,
            configContract: planned.config_contract,
            throwaway: Object.values(planned.machines).every(({ address }) => isLoopback(address)),
          })
        : await client.secrets.of(null);
    const hashes = await agreedHashes({ planned, client }, secrets);
    const desired = await renderWhole(planned, secrets, request);
    const resumed = await isBeingCreated(client, planned.name);
    // Workers join a cluster that is complete: its last control plane must not count as one that never was.
    if (planned.join === null) await markCreating(client, planned.name);
    const claim = newClaim(client, planned.join !== null);
    const { steps, applies } = await bringAbout(desired, secrets, request, { claim }).catch(async (error: unknown) => {
      // Of a cluster that another state has, nothing was created.
      if (!resumed && (error as { code?: unknown }).code === "already-exists")
        await unmarkCreating(client, planned.name);
      throw error;
    });
    await unmarkCreating(client, planned.name);
    await noteCluster(client, planned);
    if (!resumed) warnIfThere(planned, steps, request.diagnostics);
    request.remember(memoryText("", { owner: client.owner, applies }));
    return stateOf(planned, desired.caFingerprint, hashes);
  },

  async read(request) {
    await noteCluster(request.client, request.state);
    return findDrift(request, (secrets, found) => prepareWhole(request.state, secrets, request, { found }));
  },

  async update(request) {
    const { prior, client } = request;
    const planned = await settled(request, prior);
    const secrets = await client.secrets.of(prior.ca_fingerprint);
    const hashes = await agreedHashes({ planned, client }, secrets);
    // Whoever left as a member is gone and wiped; as a machine that does not answer it would be warned about.
    const leaving = leavingMachines(prior, planned).filter(({ name }) => !client.hasLeft(planned.name, name));
    const found = await poolMachines(planned, secrets, request);
    const desired = await renderWhole(withoutOldMeta(prior, planned), secrets, request, { leaving, found });
    const announced = isUnknown(planned.steps) ? [] : (planned.steps ?? []);
    const expected = [...leaving.map(({ name }) => name), ...remadeMachines(prior, planned)];
    const claim = heldClaim(client, request.remembered, planned.join !== null);
    const review = refuseUnplanned(announced, expected);
    const { applies } = await bringAbout(desired, secrets, request, { review, claim });
    if (planned.join === null) await unmarkCreating(client, planned.name);
    await noteCluster(client, planned);
    request.remember(memoryText(request.remembered, { owner: client.owner, applies }));
    return stateOf(planned, desired.caFingerprint, hashes);
  },

  async delete(request) {
    const { state, client } = request;
    // A replacement that the user forces (-replace) is not shown to the provider before this.
    refuseProtected(state);
    const claim = removalClaim(client, request.remembered, state.join !== null);
    if (state.on_destroy === "keep" && claim === undefined) return;
    const secrets = await client.secrets.of(state.ca_fingerprint);
    const desired = await renderWhole(withoutPatchFiles(state), secrets, request);
    if (state.on_destroy === "keep") return giveUp(desired, secrets, request, state, claim);
    await takeDown(desired, secrets, request, state, claim);
    client.ended(state.name);
    if (state.join === null) await forgetCluster(client, state.name);
    await unmarkCreating(client, state.name);
  },

  // A refresh finds another one where that machine leaves.
  identity: {
    attributes: { name: "Name of the cluster.", address: "Address of one of its control planes." },
    of: ({ name, machines }) => {
      const [plane] = Object.entries(machines ?? {})
        .flatMap(([key, { role, address }]) => (role === "controlplane" ? [{ key, address }] : []))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      return plane && { name, address: plane.address };
    },
    idOf: ({ address = "" }) => address,
  },

  import: importCluster,

  moves: [
    fromOfficial("talos_machine_bootstrap", async (request) => {
      await clusterOf(request);
      return asMembers(await clusterFoundBy(request.id, request));
    }),
  ],
};

function refuseProtected({ name, on_destroy }: Pick<ClusterState, "name" | "on_destroy">): void {
  if (on_destroy !== "prevent") return;
  throw new DiagnosticError({
    summary: "The cluster is protected",
    detail: `on_destroy of ${name} is "prevent": the cluster can't be destroyed. ${liftProtection}`,
    path: path("on_destroy"),
  });
}

/** A create that did not have to make the cluster: its state was lost, or another one has it. */
function warnIfThere(
  { name, join }: Pick<ClusterPlan, "name" | "join">,
  steps: readonly Step[],
  diagnostics: Diagnostics,
): void {
  const isThere = join === null ? steps.every(({ kind }) => kind !== "bootstrap-etcd") : steps.length === 0;
  if (!isThere) return;
  const done =
    steps.length === 0
      ? `Nothing had to be done for ${name}: its machines already run with these secrets and configs.`
      : `${name} already answered to these secrets: its etcd ran, and the apply changed what was there in ${steps.length} steps.`;
  diagnostics.warning({
    summary: "The cluster was there already",
    detail: `${done} If another state has it too, two owners will fight over it. If its state was lost, put a copy of it back (state/backups has the last ones). To take over a cluster, terraform import is the usual way.`,
  });
}

/** The cluster as the engine takes it; with `join`, the other stack's control planes are asked what they are. */
async function renderWhole(...args: Parameters<typeof prepareWhole>): Promise<DesiredCluster> {
  return (await prepareWhole(...args)).whole();
}

/** The same, before its configs are made. */
async function prepareWhole(
  wishes: ClusterInput,
  secrets: SecretsBundle,
  { signal, client }: Pick<Operation<Client>, "signal" | "client">,
  { leaving = [], found = [] }: Pick<RenderOptions, "leaving" | "found"> = {},
): Promise<Renderable> {
  const input = await withPatchFiles(wishes, client);
  const spec = await clusterSpec(input, leaving);
  if (input.join === null) {
    const { Rendering, withPoolMachines } = await import("../../../engine/index.ts");
    return new Rendering(withPoolMachines(spec, found), secrets);
  }
  const planes = await joinedControlPlanes(input, spec.talosVersion, secrets, signal);
  const whole = await renderCluster(input, secrets, { leaving, planes });
  return { whereabouts: whole, machines: () => whole.machines, whole: () => whole };
}

/** A plan whose contract is known. */
type SettledPlan = Omit<ClusterPlan, "config_contract"> & { readonly config_contract: string };

/** What was planned; the contract followed from values that were not known then, or was decided then. */
async function settled(
  { planned }: Pick<CreateRequest<Schema, Client> | UpdateRequest<Schema, Client>, "planned">,
  prior: ClusterState | null,
): Promise<SettledPlan> {
  const configured = isUnknown(planned.config_contract) ? null : planned.config_contract;
  const contract = await plannedContract({ ...planned, config_contract: configured }, prior);
  return { ...planned, config_contract: String(contract) };
}

/** The patch files' hashes, which must still be those that were planned: else somebody else's change slips in. */
async function agreedHashes(
  { planned, client }: { readonly planned: SettledPlan; readonly client: Client },
  secrets: SecretsBundle,
): Promise<Readonly<Record<string, string>>> {
  const hashes = await patchHashes(planned, client, secrets);
  const wanted = planned.patch_file_hashes;
  const changed = isUnknown(wanted) ? [] : changedPatchFiles(wanted, hashes);
  if (changed.length === 0) return hashes;
  throw changedSincePlan(changed.join(", "), path("machines"));
}

/** Taking a cluster down asks for no configs, so files that are gone are not in the way. A group takes its own machines down. */
function withoutPatchFiles(state: ClusterState): ClusterState {
  const machines = Object.entries(state.machines).map(([name, machine]) => [name, { ...machine, patch_files: null }]);
  return { ...state, machines: Object.fromEntries(machines), scaling_pools: null };
}

/** Before there is a machine. */
const nothingObserved = { machines: new Map(), kubernetes: { kind: "unreachable", reason: "" } } as const;

function refuseFindings(summary: string, findings: readonly Finding[], diagnostics: Diagnostics): void {
  for (const { message, hint = "" } of findings)
    diagnostics.error({ summary, detail: `${message}. ${hint}`, path: path("machines") });
}

/** Renders the configs that an apply would send, and refuses those that the machines would. */
async function refuseConfigs(
  input: ClusterInput,
  secrets: SecretsBundle,
  diagnostics: Diagnostics,
): Promise<DesiredCluster> {
  const desired = await renderCluster(input, secrets);
  const { configFindings } = await import("../../../engine/index.ts");
  refuseFindings("The machines would refuse their configs", configFindings(desired, nothingObserved), diagnostics);
  return desired;
}

function hasPatches({ machines }: ClusterInput): boolean {
  return Object.values(machines).some(({ patches }) => (patches?.length ?? 0) > 0);
}

/** To render configs before there are secrets. */
async function throwawaySecrets(contract: string): Promise<SecretsBundle> {
  const [{ generateThrowawaySecrets }, { Contract }, { systemClock, systemEntropy }] = await Promise.all([
    import("../../../talos/secrets/index.ts"),
    import("../../../talos/version/index.ts"),
    import("../../../talos/clock.ts"),
  ]);
  return generateThrowawaySecrets({ contract: Contract.parse(contract), clock: systemClock, entropy: systemEntropy });
}

/** Of machines that are not made yet. */
function hasUnknownAddresses({ machines }: PlanRequest<Schema, Client>["planned"]): boolean {
  if (isUnknown(machines)) return true;
  return Object.values(machines ?? {}).some((machine) => isUnknown(machine) || isUnknown(machine.address));
}

async function planCreate({ planned: wishes, config, client, diagnostics }: PlanRequest<Schema, Client>) {
  const contract = await plannedContract(config, null);
  const planned = { ...wishes, config_contract: contract };
  const known = withStandIns(planned);
  const secrets = await client.secrets.find();
  const { name } = planned;
  const decided = config.config_contract === null ? { config_contract: contract } : {};
  const common = { ...decided, id: name ?? unknown, drift: [], changes: {}, patch_file_hashes: unknown };
  if (known === undefined) return { ...common, steps: unknown, ca_fingerprint: unknown };
  // An earlier apply has left machines with configs: the steps follow from which.
  const isResumed = planned.join === null && (await isBeingCreated(client, known.input.name));
  const steps = isResumed ? unknown : numbered(await stepsOfCreate(known.input));
  // Also finds files that are missing now rather than in the middle of the apply.
  const input = await withPatchFiles(known.input, client);
  if (secrets === undefined) {
    if (hasPatches(input)) await refuseConfigs(input, await throwawaySecrets(String(contract)), diagnostics);
    return { ...common, steps, ca_fingerprint: unknown };
  }
  // Finds faulty patches, and what the machines would refuse, now.
  const { caFingerprint } = await refuseConfigs(input, secrets, diagnostics);
  const hashes = await patchHashes(known.input, client, secrets);
  return { ...common, steps, ca_fingerprint: caFingerprint, patch_file_hashes: hashes };
}

async function planUpdate(request: PlanRequest<Schema, Client>, prior: ClusterState) {
  const { config, client, changed, diagnostics } = request;
  const contract = await plannedContract(config, prior);
  const planned = { ...request.planned, config_contract: contract };
  const isDecided = config.config_contract === null;
  const secrets = await client.secrets.of(prior.ca_fingerprint);
  await checkChange(prior, planned, diagnostics, client.environment);
  const drift = prior.drift ?? [];
  const { caFingerprint } = await import("../../../talos/secrets/index.ts");
  const decided = isDecided ? { config_contract: contract } : {};
  const kept = { id: prior.id, ca_fingerprint: caFingerprint(secrets), drift: [] };
  // A state of before there was a contract gets it with the next change, and not as a change of its own.
  const undecided = isDecided ? { config_contract: prior.config_contract } : {};
  const unchanged = {
    ...kept,
    ...undecided,
    patch_file_hashes: prior.patch_file_hashes,
    steps: prior.steps,
    changes: prior.changes,
  };
  const known = withStandIns(planned);
  // Memberships end before the cluster is updated, and with the care that is asked for now.
  if (known !== undefined) await noteCluster(client, { ...prior, rollout: known.input.rollout });
  let hashes: Readonly<Record<string, string>> | Unknown;
  try {
    hashes = known === undefined ? unknown : await patchHashes(known.input, client, secrets);
  } catch (error) {
    // Terraform plans like this before a destroy too, and a destroy needs no file.
    if (changed || drift.length > 0 || !(error instanceof MissingPatchFile)) throw error;
    diagnostics.warning({
      ...error.finding,
      detail: `${error.finding.detail} The machines keep what it held when it was applied; the next change needs it again.`,
    });
    return unchanged;
  }
  const files = isUnknown(hashes) ? [] : changedPatchFiles(prior.patch_file_hashes, hashes);
  const settled = { ...kept, ...decided, patch_file_hashes: hashes };
  const running = runningOf(request.remembered);
  const isUnchanged = !changed && drift.length === 0 && files.length === 0;
  if (diagnostics.hasError || (isUnchanged && Object.keys(running).length === 0)) return unchanged;
  // A machine that is made anew may come back at its old address or at another: the steps follow from which.
  const remade = replacedMachines(prior, planned).length > 0;
  if (known === undefined || remade || !known.endpointKnown) {
    if (isUnchanged) return unchanged;
    // Before a machine is destroyed that would not come back.
    if (known !== undefined) await refuseConfigs(await withPatchFiles(known.input, client), secrets, diagnostics);
    return { ...settled, steps: unknown, changes: unknown };
  }
  const found = poolMachinesOf(request.remembered);
  warnOfEnd(found, known.input, diagnostics);
  const update = { prior, next: known.input, drift, running, found };
  const { refused, conflicts, steps, changes, notes } = await planOfUpdate(update, secrets, client);
  if (conflicts.length > 0)
    diagnostics.warning({
      summary: "Machines run versions that no apply changes",
      detail: conflicts.map(({ message, hint = "" }) => `${message}. ${hint}`).join("\n"),
    });
  // A newer version that runs is no difference that an apply would mend.
  if (isUnchanged) return unchanged;
  refuseFindings("Can't be changed", refused, diagnostics);
  for (const { summary, detail } of notes) diagnostics.warning({ summary, detail, path: path("talos_version") });
  const news = changesOfFiles(prior, known.input, files);
  const all = { ...changes };
  for (const [machine, lines] of Object.entries(news)) all[machine] = [...(all[machine] ?? []), ...lines];
  // What a changed file was before is stored nowhere. A refresh compares with the machines and knows; else nobody does.
  if (files.length > 0 && drift.length === 0) return { ...settled, steps: unknown, changes: all };
  return { ...settled, changes: all, steps: numbered(steps) };
}

/** All that was planned comes back as it was planned; what was not known is known now. */
function stateOf(planned: SettledPlan, caFingerprint: string, hashes: Readonly<Record<string, string>>): ClusterState {
  const steps = isUnknown(planned.steps) ? [] : planned.steps;
  const changes = isUnknown(planned.changes) ? {} : planned.changes;
  const computed = { id: planned.name, ca_fingerprint: caFingerprint, patch_file_hashes: hashes };
  return { ...knownOf(planned), ...computed, steps, changes, drift: [] };
}

type Computed = "id" | "ca_fingerprint" | "patch_file_hashes" | "steps" | "changes" | "drift";

function knownOf(planned: SettledPlan): Omit<ClusterState, Computed> {
  const onDestroy = isUnknown(planned.on_destroy) ? null : planned.on_destroy;
  return { ...planned, on_destroy: onDestroy } as ClusterState;
}

function isLoopback(address: string): boolean {
  return /^127\.\d+\.\d+\.\d+(:\d+)?$/.test(address);
}

/**
 * Keeps an apply from destroying what its plan did not say. The engine plans again from what it sees, and the world may
 * have moved since: whatever it then finds to do may be done, but no data is thrown away that nobody was asked about.
 * `expected` are machines of which the plan says that they go or come anew.
 */
export function refuseUnplanned(
  planned: readonly string[],
  expected: readonly string[],
): (steps: readonly Step[]) => void {
  const sentences = planned.map((line) => line.replace(/^\d+\. /, ""));
  const allowed = new Set(expected);
  return (steps) => {
    const destructive = steps.filter((step) => step.destructive);
    for (const { sentence, machine } of destructive) if (sentences.includes(sentence)) allowed.add(machine);
    const surprising = destructive.filter(({ machine }) => !allowed.has(machine));
    if (surprising.length === 0) return;
    throw new DiagnosticError({
      summary: "Not what was planned",
      detail: `Since the plan was made something has changed, and the apply would have to:\n${surprising.map(({ sentence }) => `- ${sentence}`).join("\n")}\n\nNothing was done. Plan again (with refresh) to see and approve it.`,
    });
  };
}

/** Memberships that were moved, too, have the addresses of their machines for an id. */
function asMembers(state: Partial<ClusterState>): Partial<ClusterState> {
  const machines = Object.entries(state.machines ?? {}).map(([name, machine]) => {
    return [name, { ...machine, member_id: `${state.name}/${machine.address}` }] as const;
  });
  return { ...state, machines: Object.fromEntries(machines) };
}
