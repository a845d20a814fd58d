// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { refuseUnfinished, report } from "./apply.ts";
import type { DesiredCluster } from "./desired.ts";
import { type EngineOptions, withExclusiveContext } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import type { StepContext } from "./execute/step-context.ts";
import { refuseOtherOwner } from "./lock/ownership.ts";
import type { ObservedCluster } from "./observed.ts";
import { planLeave } from "./plan/plan.ts";
import { preflightLeave } from "./plan/preflight.ts";
import { configured, etcdView } from "./plan/quorum.ts";
import type { Step } from "./step.ts";

/** What comes up in the first round is what the plan is about; the second one finds what the leaving left behind. */
const mostRounds = 3;

/**
 * Lets the leaving machines go and does nothing else: the other machines are what they are, even if one of them was
 * emptied, is being upgraded or is down. Afterwards etcd is as well as it was.
 */
export async function leaveCluster(options: EngineOptions): Promise<{ readonly steps: readonly Step[] }> {
  const names = options.desired.leaving.map(({ name }) => name).join(", ");
  return withExclusiveContext(options, `take ${names} out of the cluster`, async (context) => {
    const { desired } = context;
    const done: Step[] = [];
    let observed = await context.observe();
    await refuseOtherOwner(context, observed, options.claim, { removes: true });
    report(context, preflightLeave(desired, observed));
    refuseUnknown(desired, observed);
    const gone = new Set(desired.leaving.map(({ name }) => name));
    const before = etcdView(observed);
    const well = (before?.members ?? []).filter(({ id, hostname }) => before?.healthy.has(id) && !gone.has(hostname));
    for (let round = 0; round < mostRounds; round++) {
      const steps = planLeave(desired, observed, context.policy);
      if (steps.length === 0) break;
      context.emit({ type: "planned", message: `${steps.length} steps to do`, steps });
      await runSteps(steps, context);
      done.push(...steps);
      observed = await context.observe();
    }
    refuseUnfinished(context, observed);
    await awaitMembers(
      context,
      well.map(({ id }) => id),
    );
    return { steps: done };
  });
}

/** A control plane that is silent may be only cut off from here: while no etcd answers, nobody can tell if it is needed. */
function refuseUnknown({ leaving }: DesiredCluster, observed: ObservedCluster): void {
  if (etcdView(observed) !== undefined) return;
  const silent = leaving.filter(({ name, role }) => {
    const machine = observed.machines.get(name);
    // One that is wiped has no data that anyone could need.
    return role === "controlplane" && configured(machine) === undefined && machine?.state.kind !== "maintenance";
  });
  if (silent.length === 0) return;
  const names = silent.map(({ name }) => name).join(", ");
  throw new TalosError(
    "failed-precondition",
    `${names} cannot leave: neither it nor any other member of etcd answers`,
    {
      hint: "Bring the other control planes back first: they can tell whether they do without it. If they are lost for good, restore the cluster from a backup (talosmith restore <environment> --from latest).",
    },
  );
}

/** Until those who were well are so again: the next one to leave counts on them. */
async function awaitMembers(context: StepContext, well: readonly string[]): Promise<void> {
  await context.waitFor("wait for the other members of etcd", context.timeouts.health, async () => {
    const view = etcdView(await context.observe());
    const missing = well.filter((id) => !view?.healthy.has(id));
    return missing.length === 0 ? undefined : `${missing.length} of ${well.length} etcd members are not healthy yet`;
  });
}
