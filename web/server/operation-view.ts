// SPDX-License-Identifier: Apache-2.0
import type { Step, ToldEvent } from "../../engine/index.ts";
import type { OtherRun } from "../../workspace/terraform/run-events.ts";
import type { OperationEvent, OperationStep, OperationView, PlannedStep } from "../shared/wire.ts";

/** Every page gets all of them again with every change; more are on disk. */
const keptEvents = 200;

/** An operation after one more event. */
export function afterEvent(view: OperationView, { at, type, message, machine, step, steps }: ToldEvent): OperationView {
  const event: OperationEvent = {
    at: at.toISOString(),
    type,
    message,
    machine: machine ?? null,
    step: step?.id ?? null,
  };
  const last = view.events.at(-1);
  // A heartbeat that says the same again only moves its time.
  const repeats = last?.type === type && last.message === message && last.machine === event.machine;
  const before = repeats ? view.events.slice(0, -1) : view.events.slice(-(keptEvents - 1));
  const known = type === "planned" && steps !== undefined ? replanned(view.steps, steps) : view.steps;
  const state = stepStates[type];
  return {
    ...view,
    events: [...before, event],
    steps: known.map((one) => (state !== undefined && one.id === event.step ? { ...one, state } : one)),
  };
}

/** An operation at its beginning. */
export function begun(
  what: Pick<OperationView, "id" | "kind" | "subject" | "environment">,
  at: Date,
  steps: readonly PlannedStep[] = [],
): OperationView {
  const planned = steps.map((step) => ({ ...step, state: "planned" as const }));
  const open = { endedAt: null, state: "running", events: [], outcome: null } as const;
  return { ...what, startedAt: at.toISOString(), steps: planned, ...open };
}

/** What another process does, as an operation that can only be watched. */
export function viewOfElsewhere(environment: string, { id, action, startedAt, events, end }: OtherRun): OperationView {
  const view = events.reduce(
    afterEvent,
    begun({ id, kind: `terraform ${action}`, subject: null, environment }, startedAt),
  );
  return end === null ? view : { ...view, ...endings[end.outcome], endedAt: end.at.toISOString() };
}

/** What was said to the person stands where it was started. */
const endings: Readonly<Record<NonNullable<OtherRun["end"]>["outcome"], Pick<OperationView, "state" | "outcome">>> = {
  done: { state: "done", outcome: null },
  failed: { state: "failed", outcome: "It has failed. Why stands where it was started." },
  stopped: {
    state: "stopped",
    outcome: "It was stopped where it was started, and goes on when it is started again.",
  },
  unknown: { state: "ended", outcome: "It has ended. What came of it stands where it was started." },
};

const stepStates: Readonly<Partial<Record<ToldEvent["type"], OperationStep["state"]>>> = {
  "step-started": "running",
  "step-finished": "done",
  "step-failed": "failed",
};

/** Such as `reboot/cp-1`; the id of a resource is its address, such as `aws_lb.api`. */
const engineStep = /^[a-z-]+\//;

/**
 * The engine plans only what is left: which of its steps it does not name any more is done, and stays on the list. The
 * resources of a run through Terraform report their own end.
 */
function replanned(before: readonly OperationStep[], steps: readonly PlannedStep[]): readonly OperationStep[] {
  const ids = new Set(steps.map(({ id }) => id));
  const kept = before
    .filter(({ id }) => !ids.has(id))
    .map((step) => (engineStep.test(step.id) ? { ...step, state: "done" as const } : step));
  return [...kept, ...steps.map((step) => ({ ...plannedStep(step), state: "planned" as const }))];
}

export function plannedStep({ id, sentence, destructive }: Pick<Step, "id" | "sentence" | "destructive">): PlannedStep {
  return { id, sentence, destructive };
}
