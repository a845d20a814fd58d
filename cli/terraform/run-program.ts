// SPDX-License-Identifier: Apache-2.0
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

export interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets stdout as it comes; it is kept all the same. */
  readonly show?: (text: string) => void;
  /** Gets stdout line by line, in place of it being kept. */
  readonly onLine?: (line: string) => void;
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Ctrl-C reaches it by itself, as part of our process group. */
export function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  const { show, onLine } = options;
  return new Promise((resolve, reject) => {
    const child = startForOwner(program, args, options);
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
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}

/** Terraform writes states and plans with the mode that new files have: for its time, that is the owner's alone. */
function startForOwner(
  program: string,
  args: readonly string[],
  { cwd, env }: RunOptions,
): ChildProcessByStdio<null, Readable, Readable> {
  const umask = process.umask(0o077);
  try {
    return spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  } finally {
    process.umask(umask);
  }
}
