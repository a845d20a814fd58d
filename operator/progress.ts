// SPDX-License-Identifier: Apache-2.0
import type { ToldEvent } from "../engine/index.ts";
import type { ClusterOperation } from "./kinds/cluster.ts";

/** Follows the events of a run and publishes how far it is. Never two writes at once; of those that come meanwhile, the last. */
export class Progress {
  readonly #publish: (operation: ClusterOperation) => Promise<void>;
  readonly #finished: (event: ToldEvent) => void;
  #operation: ClusterOperation;
  #writing: Promise<void> | undefined;
  #pending = false;

  constructor(
    operation: Pick<ClusterOperation, "name" | "startedAt">,
    publish: (operation: ClusterOperation) => Promise<void>,
    finished: (event: ToldEvent) => void,
  ) {
    this.#operation = { ...operation, step: 0, steps: 0, message: "planning" };
    this.#publish = publish;
    this.#finished = finished;
    this.#write();
  }

  readonly listen = (event: ToldEvent): void => {
    const { type, steps = [], coming, message } = event;
    const { step } = this.#operation;
    if (type === "planned") this.#change({ steps: step + steps.length + (coming ?? 0) });
    if (type === "step-finished") {
      this.#change({ step: step + 1, steps: Math.max(step + 1, this.#operation.steps), message });
      this.#finished(event);
    }
    if (type === "step-failed" || type === "warning") this.#finished(event);
  };

  /** Resolves when the last write has ended. */
  async settled(): Promise<void> {
    this.#pending = false;
    await this.#writing;
  }

  #change(change: Partial<ClusterOperation>): void {
    this.#operation = { ...this.#operation, ...change };
    this.#write();
  }

  #write(): void {
    if (this.#writing !== undefined) {
      this.#pending = true;
      return;
    }
    this.#writing = this.#publish(this.#operation)
      .catch(() => undefined)
      .then(() => {
        this.#writing = undefined;
        if (!this.#pending) return;
        this.#pending = false;
        this.#write();
      });
  }
}
