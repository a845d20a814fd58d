// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { ClusterEvent, EventListener } from "../events.ts";
import type { LeaseKeeper } from "../lock/lease.ts";
import type { Machines, MachineTarget } from "../machines.ts";
import { observe } from "../observe/observe.ts";
import { nodeLookup, singleFlight } from "../observe/single-flight.ts";
import type { MachineState, ObservedCluster, ObservedKubernetes, ObservedNode } from "../observed.ts";
import type { Policy } from "../policy.ts";
import type { Step } from "../step.ts";
import type { GateCheck } from "./gate-check.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import type { Timeouts, Timing } from "./timing.ts";
import { type WaitOptions, waitUntil, withElapsed } from "./wait.ts";

export interface EngineContext {
  readonly desired: DesiredCluster;
  readonly machines: Machines;
  readonly policy: Policy;
  readonly timing: Timing;
  readonly timeouts: Timeouts;
  readonly signal?: AbortSignal;
  readonly events?: EventListener;
  readonly journal?: Journal;
  readonly lease?: LeaseKeeper;
  readonly checkGate: GateCheck;
}

/** What the steps of one run share: fresh looks at the world, and a voice. */
export class StepContext {
  readonly desired: DesiredCluster;
  readonly machines: Machines;
  readonly policy: Policy;
  readonly timing: Timing;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal | undefined;
  readonly checkGate: GateCheck;
  /** Names of the workers that stay: every waiting one looks through them again and again. */
  readonly workers: ReadonlySet<string>;
  /** The whole cluster as it is now. */
  readonly observe: () => Promise<ObservedCluster>;
  /** The same without the workers, of which there may be many. */
  readonly observeControlPlanes: () => Promise<ObservedCluster>;
  readonly observeKubernetes: () => Promise<ObservedKubernetes>;
  readonly observeNode: (name: string) => Promise<ObservedNode>;
  /** Machines that a look at the whole cluster, or at its health, is waiting for. */
  readonly unanswered = new Set<string>();
  readonly silence = (): string | undefined =>
    this.unanswered.size === 0 ? undefined : `${[...this.unanswered].join(", ")}: no answer yet`;
  readonly #events: EventListener | undefined;
  readonly #journal: Journal | undefined;
  readonly #lease: LeaseKeeper | undefined;
  readonly #halted = new AbortController();
  readonly #reasons = new Map<string, string>();
  /** Machines that did not answer as configured ones when they were last observed, with the reason where it is known. */
  readonly #unreachable = new Map<string, string | undefined>();
  readonly #targets: ReadonlyMap<string, MachineTarget>;
  readonly #desired: ReadonlyMap<string, DesiredMachine>;

  constructor(engine: EngineContext) {
    this.desired = engine.desired;
    this.#desired = new Map(engine.desired.machines.map((machine) => [machine.name, machine]));
    this.workers = new Set(engine.desired.machines.flatMap(({ name, role }) => (role === "worker" ? [name] : [])));
    this.#targets = new Map([...engine.desired.leaving.map((one) => [one.name, one] as const), ...this.#desired]);
    this.machines = engine.machines;
    this.policy = engine.policy;
    this.timing = engine.timing;
    this.timeouts = engine.timeouts;
    this.signal = engine.signal;
    this.checkGate = engine.checkGate;
    this.#events = engine.events;
    this.#journal = engine.journal;
    this.#lease = engine.lease;
    setMaxListeners(0, this.#halted.signal);
    const { signal } = engine;
    if (signal?.aborted) this.halt();
    signal?.addEventListener("abort", () => this.halt(), { once: true });
    this.observe = singleFlight(() => {
      this.unanswered.clear();
      return observe(engine.desired, { machines: engine.machines, unanswered: this.unanswered, signal });
    });
    const controlPlanes = {
      machines: engine.desired.machines.filter(({ role }) => role === "controlplane"),
      leaving: engine.desired.leaving.filter(({ role }) => role === "controlplane"),
    };
    this.observeControlPlanes = singleFlight(() => observe(controlPlanes, { machines: engine.machines, signal }));
    this.observeKubernetes = singleFlight(() => engine.machines.kubernetes.observe(engine.signal));
    this.observeNode = nodeLookup(engine.machines.kubernetes, engine.signal);
  }

  /** One machine as it is now. */
  async inspect(name: string): Promise<MachineState> {
    const state = await this.machines.inspect(this.target(name), this.signal);
    if (state.kind === "configured") this.#unreachable.delete(name);
    else this.#unreachable.set(name, state.kind === "unreachable" ? `not reachable: ${state.reason}` : undefined);
    return state;
  }

  /** Why a step's machine gets no further: it is not reachable, or services that do not run report an error. */
  async #obstaclesOf({ kind, machine }: Step): Promise<string | undefined> {
    if (kind === "gate" || kind === "pause") return undefined;
    if (this.#unreachable.has(machine)) return this.#unreachable.get(machine);
    try {
      const errors = await this.machines.serviceErrors(this.target(machine), this.signal);
      return errors.length === 0 ? undefined : errors.join("; ");
    } catch (error) {
      // The wait has a reason of its own; a machine that cannot be asked adds nothing to it.
      const { code } = TalosError.from(error);
      if (code === "canceled") throw error;
      return undefined;
    }
  }

  target(name: string): MachineTarget {
    const found = this.#targets.get(name);
    if (found === undefined) throw new TalosError("internal", `no machine ${name} in this cluster`);
    return found;
  }

  desiredMachine(name: string): DesiredMachine {
    const found = this.#desired.get(name);
    if (found === undefined) throw new TalosError("internal", `no machine ${name} in this cluster`);
    return found;
  }

  /** Waits for a condition of a step, telling what is missing. */
  until(
    step: Step,
    check: () => Promise<string | undefined>,
    options: Partial<Pick<WaitOptions, "timeout" | "longestPause" | "what">> = {},
  ): Promise<void> {
    return waitUntil(check, {
      timing: this.timing,
      // Only the waiting is cut short; a call that is on its way to a machine gets its answer.
      signal: this.#halted.signal,
      timeout: step.kind === "drain" ? this.policy.drainTimeout : this.timeouts.step,
      what: step.sentence,
      machine: step.machine,
      onWaiting: (reason, waited) =>
        this.emit({ type: "waiting", message: withElapsed(reason, waited), machine: step.machine, step }),
      explain: () => this.#obstaclesOf(step),
      ...options,
    });
  }

  /** Does what a step asks for, again and again while it fails for a reason that passes. */
  untilDone(step: Step, action: () => Promise<void>): Promise<void> {
    return this.until(step, async () => {
      await action();
      return undefined;
    });
  }

  /** Waits for a condition of the run between two steps. */
  waitFor(
    what: string,
    timeout: number,
    check: () => Promise<string | undefined>,
    explain?: WaitOptions["explain"],
  ): Promise<void> {
    const { timing, signal, silence } = this;
    const onWaiting = (reason: string, waited: number) =>
      this.emit({ type: "waiting", message: withElapsed(reason, waited) });
    return waitUntil(check, { timing, signal, timeout, what, silence, onWaiting, ...given({ explain }) });
  }

  /** Ends the waiting of all steps: something has failed, and the user should hear of it now. */
  halt(): void {
    this.#halted.abort();
  }

  /** Before anything is changed: nobody else may be at it. */
  async claim(): Promise<void> {
    await this.#lease?.ensure(this.signal);
  }

  /** Gives back what `claim` took; after work that is done also what a dead run at this place has left. */
  async release(done: boolean): Promise<void> {
    await this.#lease?.release(done);
  }

  async record(step: Pick<Step, "id">, event: JournalEntry["event"]): Promise<void> {
    const at = new Date(this.timing.now()).toISOString();
    await this.#journal?.append({ at, cluster: this.desired.caFingerprint, step: step.id, event });
  }

  /** Whether an earlier run was told by the machine that this step had begun, and none has finished it since. */
  async wasAccepted(step: Pick<Step, "id">): Promise<boolean> {
    const entries = (await this.#journal?.entries()) ?? [];
    // A run that fails later, or is stopped, does not take back what the machine has accepted.
    const last = entries.findLast(
      ({ cluster, step: id, event }) => cluster === this.desired.caFingerprint && id === step.id && event !== "failed",
    );
    return last?.event === "accepted";
  }

  /** Whether a run that shares this journal has ever finished it. */
  async hasFinished(step: Pick<Step, "id">): Promise<boolean> {
    const entries = (await this.#journal?.entries()) ?? [];
    return entries.some(
      ({ cluster, step: id, event }) =>
        cluster === this.desired.caFingerprint && id === step.id && event === "finished",
    );
  }

  /** Machines that a run which shares this journal has configured. */
  async configuredBefore(): Promise<ReadonlySet<string>> {
    const entries = (await this.#journal?.entries()) ?? [];
    const own = entries.filter(({ cluster, event }) => cluster === this.desired.caFingerprint && event === "finished");
    return new Set(own.flatMap(({ step }) => /^apply-config\/(.*)$/.exec(step)?.[1] ?? []));
  }

  /** What the step, or the run between two steps, waits for now. */
  reasonOf(step?: Pick<Step, "id">): string | undefined {
    return this.#reasons.get(step?.id ?? "");
  }

  /** The same, unless a step of the other kind was begun later. */
  async hasBegun(step: Pick<Step, "id">, ended: RegExp): Promise<boolean> {
    const entries = (await this.#journal?.entries()) ?? [];
    const own = entries.filter(({ cluster }) => cluster === this.desired.caFingerprint);
    const begun = own.findLastIndex(({ step: id, event }) => id === step.id && event === "accepted");
    return (await this.wasAccepted(step)) && !own.slice(begun).some(({ step: id }) => ended.test(id));
  }

  emit(event: Omit<ClusterEvent, "at">): void {
    if (event.type === "waiting") this.#reasons.set(event.step?.id ?? "", event.message);
    else if (event.step === undefined) this.#reasons.delete("");
    this.#events?.({ ...event, message: oneLine(event.message), at: new Date(this.timing.now()) });
  }
}
