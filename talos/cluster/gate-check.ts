// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { TalosError } from "../errors.ts";
import type { Gate } from "./policy.ts";

/** Whom a gate is asked about. */
export interface GateSubject {
  readonly cluster: string;
  readonly machine: string;
}

/** Asks a gate once: undefined when it lets us pass, else why not. Throws only when it can never be asked. */
export type GateCheck = (gate: Gate, subject: GateSubject, signal?: AbortSignal) => Promise<string | undefined>;

/** One answer; a gate that needs longer than this is hanging. */
const longestAnswer = 60_000;
const longestReason = 200;

/** The real gates: commands run in this folder, with the machine's name in their environment. */
export function gateCheck(directory: string): GateCheck {
  return (gate, subject, signal) =>
    "command" in gate ? runCommand(gate, subject, directory, signal) : askUrl(gate.url, signal);
}

/** How a gate is called in messages. */
export function gateName(gate: Gate): string {
  return "command" in gate ? gate.command.join(" ") : gate.url;
}

function runCommand(
  { command: [program = "", ...args], timeout }: Extract<Gate, { command: readonly string[] }>,
  { cluster, machine }: GateSubject,
  cwd: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const env = { ...process.env, TALOSMITH_CLUSTER: cluster, TALOSMITH_MACHINE: machine };
  const options = { cwd, env, timeout: Math.min(timeout, longestAnswer), killSignal: "SIGKILL" as const };
  return new Promise((resolve, reject) => {
    execFile(program, args, { ...options, ...(signal === undefined ? {} : { signal }) }, (error, stdout, stderr) => {
      if (error === null) return resolve(undefined);
      if (signal?.aborted) return reject(new TalosError("canceled", "stopped before the work was finished"));
      if (error.code === "ENOENT" || error.code === "EACCES") {
        return reject(
          new TalosError("invalid-input", `the gate ${program} cannot be run: ${error.code}`, {
            hint: `Give a program on the PATH, or its path from ${cwd}.`,
          }),
        );
      }
      const said = lastLine(stderr) ?? lastLine(stdout) ?? "it said nothing";
      const end = error.killed ? "it did not end in time" : `exit code ${error.code ?? error.signal}`;
      resolve(`${end}: ${said.slice(0, longestReason)}`);
    });
  });
}

async function askUrl(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const ends = [AbortSignal.timeout(longestAnswer), ...(signal === undefined ? [] : [signal])];
  try {
    const response = await fetch(url, { signal: AbortSignal.any(ends), redirect: "follow" });
    await response.body?.cancel();
    return response.ok ? undefined : `it answered ${response.status} ${response.statusText}`.trimEnd();
  } catch (error) {
    if (signal?.aborted) throw new TalosError("canceled", "stopped before the work was finished", { cause: error });
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `it does not answer: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function lastLine(text: string): string | undefined {
  return text
    .split("\n")
    .findLast((line) => line.trim() !== "")
    ?.trim();
}
