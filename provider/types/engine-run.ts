// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import type { EventListener } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import { DiagnosticError, type Operation } from "../framework/index.ts";
import type { Client } from "./client.ts";

/** So much waiting, in milliseconds, is worth telling. */
const noticeable = 10_000;

/**
 * Runs work on a cluster; while another run has it, waits for its turn. The operation's time begins anew with each
 * attempt, and the waiting may take as long as the operation itself.
 */
export async function whenFree<T>(operation: Operation<unknown>, work: () => Promise<T>, pause = 2_000): Promise<T> {
  const { signal, log, clock, diagnostics } = operation;
  let waited = 0;
  let taken: Error | undefined;
  for (;;) {
    const begun = performance.now();
    try {
      const result = await work();
      if (taken !== undefined && waited >= noticeable)
        diagnostics.warning({
          summary: "Another run was waited for",
          detail: `${inSeconds(waited)}: ${taken.message}.`,
        });
      return result;
    } catch (error) {
      if (!isTaken(error) || signal.aborted) throw error;
      if (error.message !== taken?.message) log("warn", `waiting: ${error.message}`);
      // The first attempt may have done a good part of the work before it lost the cluster.
      if (taken !== undefined) waited += performance.now() - begun;
      taken = error;
      if (waited >= (clock.limit ?? Number.POSITIVE_INFINITY)) throw stillTaken(error, waited);
      clock.stop();
      await sleep(pause, undefined, { signal }).catch(() => {
        throw error;
      });
      waited += pause;
      clock.restart();
    }
  }
}

/** Other conflicts, such as a lock that nobody can read, do not pass by waiting. */
function isTaken(error: unknown): error is Error & { readonly hint?: string } {
  return error instanceof Error && "taken" in error && error.taken === true;
}

function stillTaken(error: Error & { readonly hint?: string }, waited: number): DiagnosticError {
  return new DiagnosticError({
    summary: "Waited too long for another run",
    detail: `After ${inSeconds(waited)} still: ${error.message}.\n\n${error.hint ?? "Wait until it has ended."} What was done so far is kept; apply again to go on.`,
  });
}

function inSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`;
}

/** What every run of the engine on a cluster is given. */
export async function runOptions(cluster: string, operation: Operation<Client>) {
  const { journalFile, journalPath } = await import("../../engine/index.ts");
  const { client, signal } = operation;
  const journal = journalFile(client.path(journalPath(cluster)));
  return { signal, events: await eventsOf(cluster, operation), journal, directory: client.root };
}

/** What the engine tells goes to Terraform's log, and to whoever has started Terraform and follows a file. */
async function eventsOf(
  cluster: string,
  { log, client }: Pick<Operation<Client>, "log" | "client">,
): Promise<EventListener> {
  const { eventFileVariable, eventsTo } = await import("../../engine/index.ts");
  const path = client.environment[eventFileVariable];
  const follower = path === undefined || path === "" ? undefined : eventsTo(path);
  return (event) => {
    const { type, message, machine } = event;
    const level = type === "step-failed" || type === "warning" ? "warn" : type === "waiting" ? "debug" : "info";
    log(level, message, { event: type, cluster, ...given({ machine }) });
    follower?.(event);
  };
}
