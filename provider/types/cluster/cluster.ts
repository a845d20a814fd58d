// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, MachineSpec } from "../../../talos/cluster/index.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import {
  type CreateRequest,
  DiagnosticError,
  isUnknown,
  type PlanRequest,
  path,
  type Resource,
  type UpdateRequest,
  unknown,
} from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { isBeingCreated, markCreating, unmarkCreating } from "../creation-mark.ts";
import { type ClusterPlan, type ClusterState, clusterAttributes } from "./attributes.ts";
import { findDrift } from "./drift.ts";
import { importCluster } from "./import.ts";
import { joinedControlPlanes } from "./joined.ts";
import { numbered, planOfUpdate, stepsOfCreate } from "./planned-steps.ts";
import { bringAbout, takeDown } from "./rollout.ts";
import { checkChange, checkWishes } from "./rules.ts";
import {
  type ClusterInput,
  clusterSpec,
  leavingMachines,
  renderCluster,
  replacedMachines,
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

  validate: ({ config, diagnostics }) => checkWishes(config, diagnostics),

  async plan(request) {
    return { values: request.prior === null ? await planCreate(request) : await planUpdate(request, request.prior) };
  },

  planDelete({ state }) {
    if (state.on_destroy !== "prevent") return;
    throw new DiagnosticError({
      summary: "The cluster is protected",
      detail: `on_destroy of ${state.name} is "prevent". To destroy it all the same, set it to "reset" or "keep" and apply that first.`,
      path: path("on_destroy"),
    });
  },

  async create(request) {
    const { planned, client } = request;
    const secrets =
      planned.join === null
        ? await client.secrets.forCreate({
            talosVersion: planned.talos_version,
            throwaway: Object.values(planned.machines).every(({ address }) => isLoopback(address)),
          })
        : await client.secrets.of(null);
    const desired = await renderWhole(planned, secrets, request.signal);
    const resumed = await isBeingCreated(client, planned.name);
    await markCreating(client, planned.name);
    const steps = await bringAbout(desired, secrets, request);
    await unmarkCreating(client, planned.name);
    if (steps === 0 && !resumed)
      request.diagnostics.warning({
        summary: "The cluster was there already",
        detail: `Nothing had to be done for ${planned.name}: its machines already run with these secrets and configs. If another state has it too, two owners will fight over it. To take over a cluster, terraform import is the usual way.`,
      });
    return stateOf(request, desired.caFingerprint);
  },

  read: (request) => findDrift(request, renderWhole),

  async update(request) {
    const { prior, planned, client } = request;
    const secrets = await client.secrets.of(prior.ca_fingerprint);
    const desired = await renderWhole(planned, secrets, request.signal, leavingMachines(prior, planned));
    await bringAbout(desired, secrets, request);
    return stateOf(request, desired.caFingerprint);
  },

  async delete(request) {
    const { state, client } = request;
    if (state.on_destroy === "keep") return;
    const secrets = await client.secrets.of(state.ca_fingerprint);
    await takeDown(await renderWhole(state, secrets, request.signal), secrets, request, state.join !== null);
    client.ended(state.name);
    await unmarkCreating(client, state.name);
  },

  import: importCluster,
};

/** The cluster as the engine takes it; with `join`, the other stack's control planes are asked what they are. */
async function renderWhole(
  input: ClusterInput,
  secrets: SecretsBundle,
  signal: AbortSignal,
  leaving: readonly MachineSpec[] = [],
): Promise<DesiredCluster> {
  if (input.join === null) return renderCluster(input, secrets, { leaving });
  const { talosVersion } = await clusterSpec(input);
  const planes = await joinedControlPlanes(input, talosVersion, secrets, signal);
  return renderCluster(input, secrets, { leaving, planes });
}

async function planCreate({ planned, client }: PlanRequest<Schema, Client>) {
  const known = withStandIns(planned);
  const secrets = await client.secrets.find();
  const { name } = planned;
  const common = { id: name ?? unknown, drift: [], changes: {} };
  if (known === undefined) return { ...common, steps: unknown, ca_fingerprint: unknown };
  const steps = numbered(await stepsOfCreate(known.input));
  if (secrets === undefined) return { ...common, steps, ca_fingerprint: unknown };
  // Rendering finds faulty patches now rather than in the middle of the apply.
  const { caFingerprint } = await renderCluster(known.input, secrets);
  return { ...common, steps, ca_fingerprint: caFingerprint };
}

async function planUpdate({ planned, client, changed, diagnostics }: PlanRequest<Schema, Client>, prior: ClusterState) {
  const secrets = await client.secrets.of(prior.ca_fingerprint);
  await checkChange(prior, planned, diagnostics);
  const drift = prior.drift ?? [];
  const settled = { id: prior.id, ca_fingerprint: prior.ca_fingerprint, drift: [] };
  if (diagnostics.hasError || (!changed && drift.length === 0))
    return { ...settled, steps: prior.steps, changes: prior.changes };
  // A machine that is made anew may come back at its old address or at another: the steps follow from which.
  const known = replacedMachines(prior, planned).length > 0 ? undefined : withStandIns(planned);
  if (known === undefined || !known.endpointKnown) return { ...settled, steps: unknown, changes: unknown };
  const { steps, changes } = await planOfUpdate(prior, known.input, secrets);
  return { ...settled, changes, steps: numbered([...drift, ...steps.filter((step) => !drift.includes(step))]) };
}

/** All that was planned comes back as it was planned; what was not known is known now. */
function stateOf(
  { planned }: Pick<CreateRequest<Schema, Client> | UpdateRequest<Schema, Client>, "planned">,
  caFingerprint: string,
): ClusterState {
  const steps = isUnknown(planned.steps) ? [] : planned.steps;
  const changes = isUnknown(planned.changes) ? {} : planned.changes;
  return { ...knownOf(planned), id: planned.name, ca_fingerprint: caFingerprint, steps, changes, drift: [] };
}

function knownOf(planned: ClusterPlan): Omit<ClusterState, "id" | "ca_fingerprint" | "steps" | "changes" | "drift"> {
  const onDestroy = isUnknown(planned.on_destroy) ? null : planned.on_destroy;
  return { ...planned, on_destroy: onDestroy } as ClusterState;
}

function isLoopback(address: string): boolean {
  return /^127\.\d+\.\d+\.\d+(:\d+)?$/.test(address);
}
