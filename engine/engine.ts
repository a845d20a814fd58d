// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import type { DesiredCluster } from "./desired.ts";
import type { EventListener } from "./events.ts";
import { type GateCheck, gateCheck } from "./execute/gate-check.ts";
import type { Journal } from "./execute/journal.ts";
import { StepContext } from "./execute/step-context.ts";
import { canceled, defaultTimeouts, systemTiming, type Timeouts, type Timing } from "./execute/timing.ts";
import { LeaseKeeper } from "./lock/lease.ts";
import { lockFileFor, lockPlace, withLock } from "./lock/lock.ts";
import type { Claim } from "./lock/ownership.ts";
import type { Machines, MachineTarget } from "./machines.ts";
import { talosMachines } from "./observe/talos-machines.ts";
import { defaultPolicy, type Policy } from "./policy.ts";
import type { Step } from "./step.ts";

/** What it takes to reach the machines of a cluster. */
export interface ClusterAccess {
  readonly desired: DesiredCluster;
  readonly secrets: SecretsBundle;
  readonly timeouts?: Partial<Timeouts>;
  readonly events?: EventListener;
  /** Stops at the next safe point; the error then has code `canceled`. */
  readonly signal?: AbortSignal;
  /** Where to write down what is done. @default nowhere */
  readonly journal?: Journal;
  /** The file that keeps two runs on this computer apart. @default one per Talos CA in the system's temporary folder */
  readonly lockFile?: string;
  /** @default the real machines, under the lock */
  readonly machines?: Machines;
  readonly timing?: Timing;
  /** Where the commands of gates run. @default the working directory */
  readonly directory?: string;
  /** @default the real gates */
  readonly checkGate?: GateCheck;
  /** Sees the steps of every round before the first of them is begun; throws to refuse them. */
  readonly review?: (steps: readonly Step[]) => void;
  /** The state that wants the work; a cluster of another one is refused. @default any may */
  readonly claim?: Claim | undefined;
}

/**
 * What every procedure over a cluster takes. How careful it has to be is the user's decision (`rollout`): it has no
 * default here, so that a caller who forgets it does not compile.
 */
export interface EngineOptions extends ClusterAccess {
  readonly policy: Policy;
}

/** Gives the work its context and, whatever happens, closes the connections that were opened for it. */
export async function withContext<T>(options: EngineOptions, work: (context: StepContext) => Promise<T>): Promise<T> {
  const machines = options.machines ?? talosMachines(options);
  const stop = new AbortController();
  // Hundreds of calls listen to it at once; that is no leak.
  setMaxListeners(0, stop.signal);
  const follow = () => stop.abort();
  options.signal?.addEventListener("abort", follow, { once: true });
  if (options.signal?.aborted) follow();
  try {
    const place = await lockPlace(lockFilesOf(options)[0]);
    return await work(contextOf({ ...options, signal: stop.signal }, machines, place));
  } finally {
    options.signal?.removeEventListener("abort", follow);
    // Looks that were not waited for any longer end here.
    stop.abort();
    if (options.machines === undefined) machines.close();
  }
}

/** The same for questions that no policy has a part in: who holds the cluster, what its kubeconfig is. */
export function withAccess<T>(options: ClusterAccess, work: (context: StepContext) => Promise<T>): Promise<T> {
  return withContext({ ...options, policy: defaultPolicy }, work);
}

/** The same for work that changes the cluster: alone on this computer, and alone by the cluster's own book. */
export function withExclusiveContext<T>(
  options: EngineOptions,
  what: string,
  work: (context: StepContext) => Promise<T>,
): Promise<T> {
  const locked = () =>
    withContext(options, async (context) => {
      let done = false;
      try {
        const result = await work(context);
        done = true;
        return result;
      } catch (error) {
        throw stoppedWhile(error, context);
      } finally {
        await context.release(done);
      }
    });
  if (options.machines !== undefined && options.lockFile === undefined) return locked();
  const under = (work: () => Promise<T>, file: string) => () =>
    withLock(file, { what, waiting: waitingOf(options) }, work);
  return lockFilesOf(options).reduceRight(under, locked)();
}

/** Where no step was under way, what the whole run waited for is told. */
function stoppedWhile(error: unknown, context: StepContext): unknown {
  const reason = context.reasonOf();
  if (!context.signal?.aborted || TalosError.from(error).code !== "canceled" || reason === undefined) return error;
  context.emit({ type: "warning", message: `stopped: ${reason}` });
  return canceled(reason);
}

/**
 * The files that keep runs on this machine apart: by the first CA of the cluster, which a rotation does not change, so
 * that the run after a killed rotation knows the dead one's lock; and by the CA that talosconfig files have now.
 */
export function lockFilesOf({ lockFile, desired, secrets }: ClusterAccess): readonly [string, ...string[]] {
  if (lockFile !== undefined) return [lockFile];
  const now = desired.caFingerprint;
  const [first = now] = secrets.formerCas ?? [];
  return first === now ? [lockFileFor(first)] : [lockFileFor(first), lockFileFor(now)];
}

function contextOf(options: EngineOptions, machines: Machines, place: string): StepContext {
  const timing = options.timing ?? systemTiming;
  return new StepContext({
    desired: options.desired,
    machines,
    policy: options.policy,
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    timing,
    checkGate: options.checkGate ?? gateCheck(options.directory ?? process.cwd()),
    ...given({ signal: options.signal, events: options.events, journal: options.journal }),
    lease: new LeaseKeeper(
      machines.kubernetes,
      timing,
      { place, run: `${process.pid}-${randomUUID()}` },
      waitingOf(options),
    ),
  });
}

function waitingOf({ events, timing = systemTiming }: ClusterAccess): (message: string) => void {
  return (message) => events?.({ type: "waiting", at: new Date(timing.now()), message });
}

/** The admin kubeconfig of a running cluster, from the first control plane that gives it out. Secret. */
export async function fetchKubeconfig(options: ClusterAccess): Promise<string> {
  return withAccess(options, kubeconfigFrom);
}

export async function kubeconfigFrom(context: {
  readonly desired: { readonly machines: readonly MachineTarget[] };
  readonly machines: Pick<Machines, "kubeconfig">;
  readonly signal: AbortSignal | undefined;
}): Promise<string> {
  const failures: TalosError[] = [];
  for (const machine of context.desired.machines) {
    if (machine.role !== "controlplane") continue;
    try {
      return await context.machines.kubeconfig(machine, context.signal);
    } catch (error) {
      const ours = TalosError.from(error);
      if (ours.code === "canceled") throw ours;
      failures.push(ours);
    }
  }
  throw failures[0] ?? new TalosError("invalid-input", "a cluster needs at least one control plane");
}
