// SPDX-License-Identifier: Apache-2.0
import type { ObservedCluster, Ownership, PoolMachine, Renderable, StepKind } from "../../../engine/index.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import { DiagnosticError, type ReadRequest } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { heldClaim, warnIfOlder } from "../ownership.ts";
import { reasonOf } from "../translate-error.ts";
import type { ClusterState, clusterAttributes } from "./attributes.ts";
import { placeInWords } from "./planned-steps.ts";
import { machinesApart, withRunning } from "./running.ts";
import { poolMachines } from "./scaling-pools.ts";
import { policyOf } from "./spec.ts";

/** Waiting for a machine that is on its way is not a change of anything; health is the data source's to tell. */
const notDrift: ReadonlySet<StepKind> = new Set<StepKind>([
  "join-etcd",
  "join-kubernetes",
  "await-components",
  "gate",
  "pause",
]);

/**
 * A refresh: looks at the machines and notes down, as steps, what differs from what was applied. Machines that can't
 * be reached are warned about and change nothing. A cluster that another state has taken over is refused here, so that
 * a plan says it.
 */
export async function findDrift(
  { state, remembered, remember, client, signal, diagnostics }: ReadRequest<typeof clusterAttributes, Client>,
  prepare: (secrets: SecretsBundle, found: readonly PoolMachine[]) => Promise<Renderable>,
): Promise<ClusterState> {
  const secrets = await client.secrets.of(state.ca_fingerprint);
  const found = await poolMachines(state, secrets, { signal, diagnostics });
  const { observe, plan, refuseLost, talosMachines, unreadyParts } = await import("../../../engine/index.ts");
  const { diffConfigs } = await import("../../../talos/config/index.ts");
  let rendering: Renderable;
  try {
    rendering = await prepare(secrets, found);
  } catch (error) {
    const filesMissing = error instanceof DiagnosticError;
    if (state.join === null && !filesMissing) throw error;
    diagnostics.warning({
      summary: filesMissing ? "The configs could not be compared" : "The control plane could not be asked",
      detail: `What is known of the machines is kept as it was. ${reasonOf(error)}`,
    });
    return state;
  }
  const machines = talosMachines({ desired: rendering.whereabouts, secrets, onlyLook: true });
  let observed: ObservedCluster;
  let ownership: Ownership | undefined;
  try {
    // One that does not answer has nothing to compare with.
    const recorded = remembered === "" ? undefined : machines.kubernetes.readOwnership(signal).catch(() => undefined);
    // Configs are made while machines answer.
    observed = await observe({ machines: rendering.machines(), leaving: [] }, { machines, signal });
    ownership = await recorded;
  } catch (error) {
    // A config that can't be made is no fault of the machines, and told as what it is.
    rendering.whole();
    diagnostics.warning({
      summary: "The machines could not be checked",
      detail: `What is known of them is kept as it was. ${reasonOf(error)}`,
    });
    return state;
  } finally {
    machines.close();
  }
  refuseLost(ownership, heldClaim(client, remembered, state.join !== null));
  warnIfOlder(ownership, remembered, diagnostics);
  const silent = [...observed.machines.values()].flatMap(({ name, state: found }) =>
    found.kind === "unreachable" || found.kind === "foreign" ? [`${name}: ${found.reason}`] : [],
  );
  if (silent.length > 0) {
    diagnostics.warning({
      summary: "Some machines could not be checked",
      detail: `What is known of them is kept as it was.\n${silent.join("\n")}`,
    });
    if (silent.length === observed.machines.size) return state;
  }
  const desired = rendering.whole();
  const unready = unreadyParts(desired, observed, policyOf(state)).map(({ message }) => message);
  // What a plan does not show: nothing of it is a difference that an apply would mend.
  if (unready.length > 0) diagnostics.warning({ summary: "The cluster is not healthy", detail: unready.join("\n") });
  const steps = plan(desired, observed, policyOf(state)).filter((step) => !notDrift.has(step.kind));
  const { caFingerprint } = await import("../../../talos/secrets/index.ts");
  const drift = steps.map(({ kind, machine, sentence }) => {
    const found = observed.machines.get(machine)?.state;
    const wanted = desired.machines.find(({ name }) => name === machine)?.config;
    const config = found?.kind === "configured" ? found.config : undefined;
    if (kind !== "apply-config" || config === undefined || wanted === undefined) return { machine, sentence };
    const differences = diffConfigs(config, wanted);
    // What only moved is told where there is nothing else.
    const changed = differences.filter(({ kind }) => kind !== "moved");
    const told = changed.length > 0 ? changed : differences;
    return { machine, sentence: `${sentence}: ${shortList(told.map(placeInWords))}` };
  });
  remember(withRunning(remembered, await machinesApart(desired, observed, drift), found));
  return { ...state, drift: drift.map(({ sentence }) => sentence), ca_fingerprint: caFingerprint(secrets) };
}

function shortList(items: readonly string[]): string {
  const shown = items.slice(0, 5).join(", ");
  return items.length > 5 ? `${shown} and ${items.length - 5} more` : shown;
}
