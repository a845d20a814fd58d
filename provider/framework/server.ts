// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import type { Attributes } from "./attribute.ts";
import { type Diagnostic, DiagnosticError, Diagnostics, diagnosticOf } from "./diagnostics.ts";
import type { Provider } from "./provider.ts";
import type { Log, Operation } from "./resource.ts";
import { noClock, startClock } from "./timeouts.ts";

/** The title of what ends because it was told to. */
const stopped = "Stopped";

/** One running provider: its types by name, what `configure` gave, and the wish to stop. */
export class Server<C = unknown> {
  readonly provider: Provider<Attributes, C>;
  readonly log: Log;
  readonly #stopping = new AbortController();
  /** Of the operations that also have a time limit. */
  readonly #limited = new Set<AbortController>();
  #client: { readonly value: C } | undefined;

  constructor(provider: Provider<Attributes, C>, log: Log) {
    this.provider = provider;
    this.log = log;
  }

  resource(name: string) {
    return find(this.provider.resources, name, "resource type");
  }

  dataSource(name: string) {
    return find(this.provider.dataSources, name, "data source");
  }

  ephemeralResource(name: string) {
    return find(this.provider.ephemeralResources, name, "ephemeral resource type");
  }

  action(name: string) {
    return find(this.provider.actions, name, "action");
  }

  list(name: string) {
    return find(this.provider.lists, name, "list resource type");
  }

  function(name: string) {
    return find(this.provider.functions, name, "function");
  }

  configured(client: C): void {
    this.#client = { value: client };
  }

  /** Asks every running operation to stop at its next safe point. */
  stop(): void {
    this.#stopping.abort(
      new DiagnosticError({
        summary: stopped,
        detail: "The run was interrupted. What was done so far is kept; apply again to go on from there.",
      }),
    );
    for (const operation of this.#limited) operation.abort(this.#stopping.signal.reason);
  }

  /** Any thrown thing as a diagnostic, in the provider's own words where it has them. */
  diagnosticOf(error: unknown): Diagnostic {
    return diagnosticOf(error, this.provider.translateError);
  }

  /**
   * Runs one operation with a signal for interruption and timeout. Never throws: what the operation throws is in the
   * diagnostics, and the result is undefined.
   */
  async run<T>(
    limit: { readonly name: string; readonly milliseconds: number | undefined },
    operate: (operation: Operation<C>) => Promise<T>,
  ): Promise<{ readonly result: T | undefined; readonly diagnostics: Diagnostics }> {
    const diagnostics = new Diagnostics();
    // A signal of its own for each call would be a good part of a small one's time.
    const late = limit.milliseconds === undefined ? undefined : new AbortController();
    const { signal } = late ?? this.#stopping;
    // Hundreds of calls listen to it at once; that is no leak.
    setMaxListeners(0, signal);
    if (this.#stopping.signal.aborted) late?.abort(this.#stopping.signal.reason);
    const clock = late ? startClock(limit.milliseconds ?? 0, () => late.abort(tooLate(limit))) : noClock;
    if (late !== undefined) this.#limited.add(late);
    try {
      if (this.#client === undefined) throw new Error(`${limit.name} was called before the provider was configured`);
      const operation = { client: this.#client.value, signal, log: this.log, diagnostics, clock };
      return { result: await operate(operation), diagnostics };
    } catch (error) {
      diagnostics.error(this.#explain(error, signal));
      return { result: undefined, diagnostics };
    } finally {
      clock.stop();
      if (late !== undefined) this.#limited.delete(late);
    }
  }

  /** An operation that was told to stop fails with whatever it was doing; the reason comes first. */
  #explain(error: unknown, signal: AbortSignal): Diagnostic {
    const diagnostic = this.diagnosticOf(error);
    if (!signal.aborted || error === signal.reason) return diagnostic;
    const reason = this.diagnosticOf(signal.reason);
    const doing = diagnostic.summary === stopped ? diagnostic.detail : `${diagnostic.summary}. ${diagnostic.detail}`;
    return { ...reason, detail: `${reason.detail}\n\nIt was at: ${doing}` };
  }
}

function tooLate({ name, milliseconds }: { name: string; milliseconds: number | undefined }): DiagnosticError {
  return new DiagnosticError({
    summary: "Took too long",
    detail: `The ${name} was given up after ${(milliseconds ?? 0) / 1000} s. What was done so far is kept; apply again to go on, or raise timeouts.${name}.`,
  });
}

function find<T extends { readonly name: string }>(list: readonly T[], name: string, what: string): T {
  const found = list.find((item) => item.name === name);
  if (found !== undefined) return found;
  throw new DiagnosticError({
    summary: `Unknown ${what}`,
    detail: `This provider has no ${what} ${JSON.stringify(name)}. It has: ${list.map((item) => item.name).join(", ") || "none"}.`,
  });
}
