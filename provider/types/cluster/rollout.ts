// SPDX-License-Identifier: Apache-2.0
import type { ApplyResult, Claim, DesiredCluster, EngineOptions } from "../../../engine/index.ts";
import { given } from "../../../talos/given.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import type { Operation } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { runOptions, whenFree } from "../engine-run.ts";
import { reasonOf } from "../translate-error.ts";
import type { ClusterPlan } from "./attributes.ts";
import { type ClusterInput, policyOf } from "./spec.ts";

/** How long the last endpoint must have been silent after its reset; it wipes its disk meanwhile. */
const lastSilence = 15_000;

type Change = Operation<Client> & { readonly planned: ClusterPlan };

/**
 * Takes the cluster from whatever it is to what it should be. Progress goes to Terraform's log and to the journal.
 * Tells which steps it took, and how often the cluster was applied by then.
 */
export async function bringAbout(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  change: Change,
  { review, claim }: Pick<EngineOptions, "review" | "claim"> = {},
): Promise<Pick<ApplyResult, "steps" | "applies">> {
  const { applyCluster } = await import("../../../engine/index.ts");
  const options = { ...(await engineOptions(desired, secrets, change, change.planned)), claim };
  return whenFree(change, () => applyCluster({ ...options, ...given({ review }) }));
}

/**
 * The whole end: every machine is wiped. Workers of a control plane that another stack owns leave it one after another
 * instead, and it stays as it is.
 */
export async function takeDown(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  operation: Operation<Client>,
  state: Pick<ClusterInput, "join" | "rollout">,
  claim: Claim | undefined,
): Promise<void> {
  const { applyCluster, checkOwner, destroyCluster } = await import("../../../engine/index.ts");
  if (state.join !== null) {
    const planes = desired.machines.filter(({ role }) => role === "controlplane");
    const leaving = desired.machines.filter(({ role }) => role === "worker");
    const options = await engineOptions({ ...desired, machines: planes, leaving }, secrets, operation, state);
    if (claim !== undefined) await checkOwner({ ...options, claim });
    await whenFree(operation, () => applyCluster(options));
    await giveUp({ ...desired, machines: planes }, secrets, operation, state, claim);
    return;
  }
  const options = {
    ...(await engineOptions(desired, secrets, operation, state)),
    claim,
    // With the last control plane goes the way to it: its silence is then all that can be waited for.
    timeouts: desired.talosEndpoints === undefined ? {} : { resetSilence: lastSilence },
  };
  const { unreachable } = await whenFree(operation, () => destroyCluster(options));
  if (unreachable.length === 0) return;
  operation.diagnostics.warning({
    summary: "Some machines were not wiped",
    detail: `${unreachable.join(", ")} did not answer. If they still exist, they hold the cluster's data and keys, and go on with what they were doing.`,
  });
}

/** For a cluster that goes on without this state. Where that cannot be written down, the next owner has to import it. */
export async function giveUp(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  operation: Operation<Client>,
  state: Pick<ClusterInput, "rollout">,
  claim: Claim | undefined,
): Promise<void> {
  if (claim === undefined) return;
  const { releaseOwner } = await import("../../../engine/index.ts");
  const options = await engineOptions(desired, secrets, operation, state);
  await releaseOwner({ ...options, claim }).catch((error: unknown) => {
    if (operation.signal.aborted) throw error;
    operation.diagnostics.warning({
      summary: "The cluster still names this state as its owner",
      detail: `${reasonOf(error)}. Another state can take the cluster over by terraform import only.`,
    });
  });
}

async function engineOptions(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  operation: Operation<Client>,
  input: Pick<ClusterInput, "rollout">,
): Promise<EngineOptions> {
  await operation.client.keepSimulator(desired.machines.map(({ address }) => address));
  return { ...(await runOptions(desired.name, operation)), desired, secrets, policy: policyOf(input) };
}
