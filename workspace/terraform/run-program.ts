// SPDX-License-Identifier: Apache-2.0
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { TalosError } from "../../talos/errors.ts";

export interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asks the program to stop, as Ctrl-C does. Its end is waited for. */
  readonly signal: AbortSignal;
  /** Gets stdout as it comes; it is kept all the same. */
  readonly show?: (text: string) => void;
  /** Gets stdout line by line, in place of it being kept. */
  readonly onLine?: (line: string) => void;
}

export interface Finished {
  /** 1 for a program that was killed. */
  readonly code: number;
  /** What has killed it, if anything. */
  readonly killedBy: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. One that is asked to stop before it has begun is not begun. */
export function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  const { show, onLine, signal } = options;
  if (signal.aborted) return Promise.reject(new TalosError("canceled", `stopped before ${program} was begun`));
  return new Promise((resolve, reject) => {
    const child = startForOwner(program, args, options);
    const interrupt = () => interruptGroup(child.pid);
    signal.addEventListener("abort", interrupt, { once: true });
    // Who cannot wait leaves at once; then the program hears it a second time, and leaves at once, too.
    process.once("exit", interrupt);
    child.once("close", () => {
      signal.removeEventListener("abort", interrupt);
      process.off("exit", interrupt);
    });
    // A letter of several bytes may arrive in two pieces.
    child.stdout.setEncoding("utf8");
    child.stderr.setEncoding("utf8");
    let stdout = "";
    let stderr = "";
    if (onLine === undefined) {
      child.stdout.on("data", (text: string) => {
        stdout += text;
        show?.(text);
      });
    } else {
      createInterface({ input: child.stdout }).on("line", onLine);
    }
    child.stderr.on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code, killedBy) =>
      resolve({ code: code ?? 1, killedBy: killedBy ?? undefined, stdout, stderr }),
    );
  });
}

/** As a terminal does it: the program and all that it has started. */
function interruptGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGINT");
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * In a group of its own: Ctrl-C reaches us alone and we pass it on once, whoever sent it, for terraform takes a second
 * one as an order to drop everything. Terraform writes states and plans with the mode that new files have: for its
 * time, that is the owner's alone.
 */
function startForOwner(
  program: string,
  args: readonly string[],
  { cwd, env }: RunOptions,
): ChildProcessByStdio<null, Readable, Readable> {
  const umask = process.umask(0o077);
  try {
    return spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  } finally {
    process.umask(umask);
  }
}
