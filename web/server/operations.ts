// SPDX-License-Identifier: Apache-2.0
import type { ToldEvent } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { ProgressListener } from "../../workspace/planned-change.ts";
import type { Action, OperationView, PlannedStep } from "../shared/wire.ts";
import { afterEvent, begun } from "./operation-view.ts";

/** Older ones are forgotten; the journal on disk has everything. */
const kept = 50;

/** What a person asked for. */
export interface Request {
  readonly environment: string;
  readonly action: Action;
  /** What was typed to agree to a loss of data. */
  readonly confirm: string;
  /** The id of the plan that was shown; absent where whatever loses no more data is agreed to. */
  readonly plan?: string;
}

interface StartOperation extends Request {
  readonly steps: readonly PlannedStep[];
  /** Its answer says what came of it, where the steps do not. */
  readonly work: (events: ProgressListener, signal: AbortSignal) => Promise<string | undefined>;
}

interface Running {
  view: OperationView;
  readonly request: Request;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** What is going on and what was: one operation per environment at a time, each with its timeline. */
export class Operations {
  readonly #byId = new Map<string, Running>();
  readonly #changed: () => void;
  readonly #now: () => Date;
  #count = 0;

  constructor(options: { readonly changed: () => void; readonly now: () => Date }) {
    this.#changed = options.changed;
    this.#now = options.now;
  }

  /** Newest first. */
  list(): readonly OperationView[] {
    return [...this.#byId.values()].map(({ view }) => view).reverse();
  }

  /** Throws when another one is at work on the same environment. */
  start({ steps, work, ...request }: StartOperation): OperationView {
    const { action, environment } = request;
    const other = this.list().find((view) => view.environment === environment && view.endedAt === null);
    if (other !== undefined) {
      throw new TalosError("conflict", `${other.kind} is at work on ${environment} since ${other.startedAt}`, {
        hint: "Wait until it has ended, or stop it.",
      });
    }
    this.#count += 1;
    const id = String(this.#count);
    const stop = new AbortController();
    const view = begun({ id, kind: action.kind, subject: subjectOf(action), environment }, this.#now(), steps);
    const ended = Promise.resolve()
      .then(() => work((event) => this.#tell(id, event), stop.signal))
      .then(
        (outcome) => this.#end(id, "done", outcome ?? null),
        (error: unknown) => this.#fail(id, error),
      );
    this.#byId.set(id, { view, request, stop, ended });
    this.#forgetOld();
    this.#changed();
    return view;
  }

  /** Asks it to stop at its next safe point. False when there is nothing to stop. */
  stop(id: string): boolean {
    const found = this.#byId.get(id);
    if (found === undefined || found.view.endedAt !== null) return false;
    this.#update(id, { state: "stopping" });
    found.stop.abort();
    return true;
  }

  /** What was asked for by an operation that was stopped or failed, to be started again. Throws for any other. */
  resumable(id: string): Request {
    const found = this.#byId.get(id);
    if (found === undefined) throw new TalosError("not-found", `no operation ${id}`);
    if (found.view.state !== "stopped" && found.view.state !== "failed")
      throw new TalosError("conflict", `this operation is ${found.view.state}`);
    return found.request;
  }

  /** Stops everything and waits until it has come to its safe point. */
  async close(): Promise<void> {
    for (const id of this.#byId.keys()) this.stop(id);
    await Promise.all([...this.#byId.values()].map(({ ended }) => ended));
  }

  #tell(id: string, event: ToldEvent): void {
    const found = this.#byId.get(id);
    if (found !== undefined) this.#update(id, afterEvent(found.view, event));
  }

  #fail(id: string, error: unknown): void {
    const { code, message, text } = TalosError.from(error);
    // terraform reports an interruption as a failure.
    const wasStopped = this.#byId.get(id)?.stop.signal.aborted === true;
    const how = code === "canceled" ? message : "Stopped.";
    if (code === "canceled" || wasStopped) this.#end(id, "stopped", `${how} Resume it to go on from here.`);
    else this.#end(id, "failed", text);
  }

  #end(id: string, state: OperationView["state"], outcome: string | null): void {
    const steps = this.#byId.get(id)?.view.steps ?? [];
    this.#update(id, {
      state,
      outcome,
      endedAt: this.#now().toISOString(),
      // Some steps, such as making a machine, come without events of their own.
      ...(state === "done" ? { steps: steps.map((step) => ({ ...step, state: "done" as const })) } : {}),
    });
  }

  #update(id: string, change: Partial<OperationView>): void {
    const found = this.#byId.get(id);
    if (found === undefined) return;
    found.view = { ...found.view, ...change };
    this.#changed();
  }

  #forgetOld(): void {
    const ended = [...this.#byId.values()].filter(({ view }) => view.endedAt !== null);
    for (const { view } of ended.slice(0, Math.max(0, this.#byId.size - kept))) this.#byId.delete(view.id);
  }
}

/** The part of the environment that an action is about, in one word. */
function subjectOf(action: Action): string | null {
  if ("machine" in action) return action.machine;
  if (action.kind === "scale") return `${action.pool} to ${action.count}`;
  if (action.kind === "drill") return action.backup;
  if (action.kind !== "upgrade") return null;
  return [action.talosVersion, action.kubernetesVersion].filter((version) => version !== undefined).join(", ");
}
