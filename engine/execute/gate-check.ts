// SPDX-License-Identifier: Apache-2.0

import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { TalosError } from "../../talos/errors.ts";
import { isGiven } from "../../talos/given.ts";
import type { Gate } from "../policy.ts";

/** Whom a gate is asked about. */
interface GateSubject {
  readonly cluster: string;
  readonly machine: string;
}

/** Asks a gate once: undefined when it lets us pass, else why not. Throws only when it can never be asked. */
export type GateCheck = (gate: Gate, subject: GateSubject, signal?: AbortSignal) => Promise<string | undefined>;

/** One answer; a gate that needs longer than this is hanging. */
const longestAnswer = 60_000;
const longestReason = 200;
/** So much of its output is kept, in characters. */
const longestTail = 16_384;
/** How long after its end output may still come in. */
const lastWords = 500;

/** The real gates: commands run in this folder, with the machine's name in their environment. */
export function gateCheck(directory: string): GateCheck {
  return (gate, subject, signal) =>
    "command" in gate ? runCommand(gate, subject, directory, signal) : askUrl(gate.url, signal);
}

/** How a gate is called in messages: without what in its URL may be a password or a token. */
export function gateName(gate: Gate): string {
  if ("command" in gate) return gate.command.join(" ");
  if (!URL.canParse(gate.url)) return gate.url;
  const { origin, pathname } = new URL(gate.url);
  return `${origin}${pathname}`;
}

function runCommand(
  { command: [program = "", ...args], timeout }: Extract<Gate, { command: readonly string[] }>,
  { cluster, machine }: GateSubject,
  cwd: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const env = { ...process.env, TALOSMITH_CLUSTER: cluster, TALOSMITH_MACHINE: machine };
  const canceled = () => new TalosError("canceled", "stopped before the work was finished");
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(canceled());
    // A process group of its own, so that it can be ended with all that it has started.
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const [stdout, stderr] = [tailOf(child.stdout), tailOf(child.stderr)];
    let ended: "in time" | "late" | "stopped" = "in time";
    const end = (why: "late" | "stopped") => {
      ended = why;
      killGroup(child.pid);
    };
    const stop = () => end("stopped");
    const limit = setTimeout(() => end("late"), Math.min(timeout, longestAnswer));
    signal?.addEventListener("abort", stop, { once: true });
    const letGo = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const unwatch = () => {
      clearTimeout(limit);
      signal?.removeEventListener("abort", stop);
    };
    child.once("error", (error: NodeJS.ErrnoException) => {
      unwatch();
      letGo();
      reject(
        new TalosError("invalid-input", `the gate ${program} cannot be run: ${error.code ?? error.message}`, {
          hint: `Give a program on the PATH, or its path from ${cwd}.`,
        }),
      );
    });
    // Its exit code alone counts. What it has started may go on and hold its output open.
    child.once("exit", (code, killedBy) => {
      unwatch();
      const late = setTimeout(letGo, lastWords);
      if (code === 0) letGo();
      child.once("close", () => {
        clearTimeout(late);
        if (ended === "stopped") return reject(canceled());
        if (code === 0) return resolve(undefined);
        const said = lastLine(stderr()) ?? lastLine(stdout()) ?? "it said nothing";
        const result = ended === "late" ? "it did not end in time" : `exit code ${code ?? killedBy}`;
        resolve(`${result}: ${said.slice(0, longestReason)}`);
      });
    });
  });
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    // All of it has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The end of what a program says, however much that is. */
function tailOf(stream: Readable): () => string {
  let tail = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    tail = `${tail}${chunk}`.slice(-longestTail);
  });
  return () => tail;
}

async function askUrl(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const ends = [AbortSignal.timeout(longestAnswer), signal].filter(isGiven);
  try {
    const { target, headers } = requestTo(url);
    const response = await fetch(target, { headers, signal: AbortSignal.any(ends), redirect: "follow" });
    await response.body?.cancel();
    return response.ok ? undefined : `it answered ${response.status} ${response.statusText}`.trimEnd();
  } catch (error) {
    if (signal?.aborted) throw new TalosError("canceled", "stopped before the work was finished", { cause: error });
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `it does not answer: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

/** `fetch` takes no name and password in a URL, and would repeat them in its refusal. */
function requestTo(url: string): { readonly target: URL; readonly headers: { readonly authorization?: string } } {
  const target = new URL(url);
  const { username, password } = target;
  if (username === "" && password === "") return { target, headers: {} };
  target.username = "";
  target.password = "";
  const identity = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { target, headers: { authorization: `Basic ${Buffer.from(identity).toString("base64")}` } };
}

function lastLine(text: string): string | undefined {
  return text
    .split("\n")
    .findLast((line) => line.trim() !== "")
    ?.trim();
}
