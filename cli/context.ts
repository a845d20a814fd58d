// SPDX-License-Identifier: Apache-2.0
import type { WorkspaceContext } from "../workspace/context.ts";

/** Everything a command may touch of the outside world. Tests pass their own; no command reads `process`. */
export interface CommandContext extends WorkspaceContext {
  /** Data only: what a script would pipe on. */
  readonly stdout: Output;
  readonly stderr: Output;
  /** How the user types our name: talosmith, npx talosmith … */
  readonly name: string;
  /** Ends the command with this code, when it returns. The last call wins. */
  exit(code: ExitCode): void;
}

export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Of a terminal. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /**
   * From now on what is written only tells of work, which is done to its end although nobody reads any more. Without
   * this, a reader that leaves ends the command.
   */
  onlyTells?(): void;
}

/** 0 done · 1 failed · 2 `plan`: there are changes, `review --fail-on`: found · 64 wrong usage · 129 the terminal was closed · 130 stopped by Ctrl-C · 143 stopped by SIGTERM. */
export type ExitCode = 0 | 1 | 2 | 64 | 129 | 130 | 143;
