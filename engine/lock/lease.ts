// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { type Timing, throwIfCanceled, unlessCanceled } from "../execute/timing.ts";
import type { Kubernetes, LeaseHolder } from "../machines.ts";
import { singleFlight } from "../observe/single-flight.ts";
import { ClusterTaken } from "./lock-file.ts";

const renewal = 20_000;

/**
 * Our place in the cluster's own book of who works on it, so that runs on different computers keep apart. Where
 * Kubernetes does not answer there is no book yet, and the deterministic choice of the first control plane protects.
 */
export class LeaseKeeper {
  readonly #kubernetes: Kubernetes;
  readonly #timing: Timing;
  readonly #holder: LeaseHolder;
  readonly #watching: ((message: string) => void) | undefined;
  /** Steps begin side by side; they ask together. */
  readonly #ask: () => Promise<string | undefined>;
  readonly #stop = new AbortController();
  #renewing: Promise<void> | undefined;
  #asking: Promise<unknown> | undefined;

  constructor(kubernetes: Kubernetes, timing: Timing, holder: LeaseHolder, watching?: (message: string) => void) {
    this.#kubernetes = kubernetes;
    this.#timing = timing;
    this.#holder = holder;
    this.#watching = watching;
    this.#ask = singleFlight(() => this.#take());
  }

  /** Takes or keeps the lease; throws when another run has it. */
  async ensure(signal?: AbortSignal): Promise<void> {
    throwIfCanceled(signal);
    const asking = this.#ask();
    this.#asking = asking;
    const other = await unlessCanceled(asking, signal);
    if (other !== undefined) {
      throw new ClusterTaken(`another run works on this cluster: ${other}`, {
        hint: "Wait until it has ended. A run that died gives the cluster free after two minutes.",
      });
    }
  }

  /**
   * Gives the lease back; with `left` also where this run never took it, but a dead one at this place did. Never throws:
   * what cannot be given back runs out by itself.
   */
  async release(left: boolean): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([this.#asking, this.#renewing]);
    // Who is stopped while asking does not hear the answer, and may have the lease all the same.
    if (left || this.#asking !== undefined) await this.#kubernetes.releaseLease(this.#holder).catch(() => {});
  }

  async #take(): Promise<string | undefined> {
    try {
      const other = await this.#kubernetes.takeLease(this.#holder, this.#stop.signal, this.#watching);
      if (other === undefined) this.#renewing ??= this.#renew();
      return other;
    } catch (error) {
      return ifReachable(error);
    }
  }

  async #renew(): Promise<void> {
    for (;;) {
      try {
        await this.#timing.sleep(renewal, this.#stop.signal);
        await this.#kubernetes.takeLease(this.#holder, this.#stop.signal);
      } catch {
        // Whatever keeps us from renewing it is told to the next step, which asks for it again.
        if (this.#stop.signal.aborted) return;
      }
    }
  }
}

/** A Kubernetes that does not answer, or is not set up yet, has no lease to give. */
function ifReachable(error: unknown): undefined {
  const ours = TalosError.from(error);
  if (ours.retryable || ours.code === "not-found" || ours.code === "permission-denied") return undefined;
  throw ours;
}
