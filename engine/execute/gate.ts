// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { Gate } from "../policy.ts";
import type { Step, StepOf } from "../step.ts";
import { gateName } from "./gate-check.ts";
import type { StepContext } from "./step-context.ts";
import { windowAt } from "./window.ts";

/** A gate that stays shut is asked again so seldom that nobody minds, and as often as a sign of life is due. */
const longestPause = 5_000;

/** Passes when a window is open and every gate lets us through, one after another. */
export async function gate(step: StepOf<"gate">, context: StepContext): Promise<void> {
  refuseClosed(step, context);
  const { gates } = context.policy;
  for (const check of gates) await passThrough(check, step, context);
  // A gate may have been waited for until after the window's end.
  if (gates.length > 0) refuseClosed(step, context);
}

function refuseClosed({ machine }: Step, { policy, timing }: StepContext): void {
  if (policy.windows.length === 0) return;
  const state = windowAt(policy.windows, new Date(timing.now()));
  if (state.open) return;
  const next =
    state.opens === undefined ? "none of them opens again" : `the next one opens at ${state.opens.toISOString()}`;
  throw new TalosError(
    "failed-precondition",
    `outside of the maintenance windows nothing is begun on ${machine}: ${next}`,
    {
      node: machine,
      hint: "Run the same command again then. What had begun was finished. If it cannot wait, change rollout.windows.",
    },
  );
}

async function passThrough(check: Gate, step: Step, context: StepContext): Promise<void> {
  const { machine } = step;
  const name = gateName(check);
  const subject = { cluster: context.desired.name, machine };
  const ask = async () => {
    const reason = await context.checkGate(check, subject, context.signal);
    return reason === undefined ? undefined : `${name}: ${reason}`;
  };
  await context.until(step, ask, { timeout: check.timeout, longestPause, what: `gate before ${machine}` });
}

/** After the canaries: time to watch them, and then perhaps the end of this run. */
export async function pause(step: StepOf<"pause">, context: StepContext): Promise<void> {
  // Whoever starts the same change again after it stopped here has looked at them.
  if (await context.wasAccepted(step)) return;
  const end = context.timing.elapsed() + step.soak;
  await context.until(
    step,
    async () => {
      const left = end - context.timing.elapsed();
      return left <= 0 ? undefined : `${step.canaries.join(", ")} ${step.canaries.length === 1 ? "is" : "are"} watched`;
    },
    { timeout: step.soak + longestPause, longestPause: Math.max(1000, Math.min(longestPause, step.soak)) },
  );
  await context.record(step, "accepted");
  if (step.afterwards === "continue") return;
  throw new TalosError("failed-precondition", `stopped after ${step.canaries.join(", ")}, as rollout.canary says`, {
    hint: "They have the change, the other machines do not. If they are well, run the same command again: it goes on from there.",
  });
}
