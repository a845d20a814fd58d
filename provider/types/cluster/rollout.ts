// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, EngineOptions, EventListener } from "../../../talos/cluster/index.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import { DiagnosticError, isUnknown, type Operation, type UpdateRequest } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import type { ClusterPlan, clusterAttributes } from "./attributes.ts";

type Change = Operation<Client> & { readonly planned: ClusterPlan };

/** Takes the cluster from whatever it is to what it should be. Progress goes to Terraform's log. */
export async function bringAbout(desired: DesiredCluster, secrets: SecretsBundle, change: Change): Promise<void> {
  const { applyCluster } = await import("../../../talos/cluster/index.ts");
  const trustOnFirstUse = change.planned.trust_on_first_use ?? false;
  await applyCluster({ ...engineOptions(desired, secrets, change), trustOnFirstUse });
}

/**
 * The plan was made without looking at the machines. If what is there now calls for more wiping than the user has
 * agreed to, the user is asked again.
 */
export async function refuseSurprises(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  { planned, signal }: UpdateRequest<typeof clusterAttributes, Client>,
): Promise<void> {
  const { defaultPolicy, observe, plan, talosMachines } = await import("../../../talos/cluster/index.ts");
  const machines = talosMachines({ desired, secrets });
  try {
    const steps = plan(desired, await observe(desired, { machines, signal }), defaultPolicy);
    const agreed = isUnknown(planned.steps) ? [] : (planned.steps ?? []);
    const surprises = steps.filter((step) => step.destructive && !agreed.includes(step.sentence));
    if (surprises.length === 0) return;
    throw new DiagnosticError({
      summary: "The cluster has changed since the plan",
      detail: `It would now take what the plan did not say: ${surprises.map((step) => step.sentence).join("; ")}. Nothing was touched. Plan again, with a refresh, and look at its steps.`,
    });
  } finally {
    machines.close();
  }
}

/** The whole end: every machine is wiped. */
export async function takeDown(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  operation: Operation<Client>,
): Promise<void> {
  const { destroyCluster } = await import("../../../talos/cluster/index.ts");
  const { unreachable } = await destroyCluster(engineOptions(desired, secrets, operation));
  if (unreachable.length === 0) return;
  operation.diagnostics.warning({
    summary: "Some machines were not wiped",
    detail: `${unreachable.join(", ")} did not answer. If they still exist, they hold the cluster's data and keys, and go on with what they were doing.`,
  });
}

function engineOptions(desired: DesiredCluster, secrets: SecretsBundle, { signal, log }: Operation<Client>): EngineOptions {
  const events: EventListener = ({ type, message, machine }) => {
    const level = type === "step-failed" || type === "warning" ? "warn" : type === "waiting" ? "debug" : "info";
    log(level, message, { event: type, cluster: desired.name, ...(machine === undefined ? {} : { machine }) });
  };
  return { desired, secrets, signal, events };
}
