// SPDX-License-Identifier: Apache-2.0
import { type DefaultRenderer, Listr, type ListrTaskWrapper, type SimpleRenderer } from "listr2";
import type { ClusterEvent, EventListener } from "../../talos/cluster/index.ts";

type Wrapper = ListrTaskWrapper<unknown, typeof DefaultRenderer, typeof SimpleRenderer>;

interface Row {
  /** Steps planned for this machine that are not finished yet. */
  open: number;
  wrapper?: Wrapper;
  settle?: { resolve(): void; reject(error: Error): void };
}

/** A live line per machine on a terminal: what it is doing or waiting for, and a tick when all its steps are done. */
export class TaskBoard {
  readonly #rows = new Map<string, Row>();
  #shown: Promise<unknown> | undefined;

  readonly listener: EventListener = (event) => {
    if (event.type === "planned") this.#show(event);
    else if (event.machine !== undefined) this.#tell(event.machine, event);
  };

  /** Everything went well: what is still open was not needed. */
  async finish(): Promise<void> {
    for (const row of this.#rows.values()) row.settle?.resolve();
    await this.#shown;
  }

  async fail(): Promise<void> {
    for (const row of this.#rows.values()) row.settle?.reject(new Error("stopped"));
    await this.#shown;
  }

  #show({ steps = [] }: ClusterEvent): void {
    if (this.#shown !== undefined || steps.length === 0) return;
    for (const { machine } of steps) {
      const row = this.#rows.get(machine) ?? { open: 0 };
      row.open += 1;
      this.#rows.set(machine, row);
    }
    const tasks = [...this.#rows].map(([machine, row]) => ({
      title: machine,
      task: (_: unknown, wrapper: Wrapper) => {
        row.wrapper = wrapper;
        return new Promise<void>((resolve, reject) => {
          row.settle = { resolve, reject };
        });
      },
    }));
    const list = new Listr<unknown, "default", "simple">(tasks, {
      concurrent: true,
      exitOnError: false,
      rendererOptions: { showErrorMessage: false },
    });
    this.#shown = list.run();
  }

  #tell(machine: string, { type, message }: ClusterEvent): void {
    const row = this.#rows.get(machine);
    if (row === undefined) return;
    if (row.wrapper !== undefined) row.wrapper.output = message;
    if (type === "step-failed") row.settle?.reject(new Error(message));
    if (type !== "step-finished") return;
    row.open -= 1;
    if (row.open === 0) row.settle?.resolve();
  }
}
