// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { plainText } from "../../talos/plain-text.ts";
import { environmentsHere } from "../../workspace/project.ts";
import type { CommandContext } from "../context.ts";
import { stoppedText } from "./stopped.ts";

/** What a shell expects of a program that ended because of a signal: 128 and the signal's number. */
export function stopCode({ reason }: AbortSignal): 129 | 130 | 143 {
  const signal = reason instanceof Error ? reason.message : "";
  if (signal === "SIGHUP") return 129;
  return signal === "SIGTERM" ? 143 : 130;
}

/** What a file system refuses is the world's fault, whoever asked it. */
const advice: Readonly<Record<string, string>> = {
  ENOSPC: "Make room on that disk and run the same command again.",
  EDQUOT: "Your quota is used up: make room and run the same command again.",
  EROFS: "Work in a folder that can be written.",
  EACCES: "Give yourself the permission, or work in a folder of your own.",
  EPERM: "Give yourself the permission, or work in a folder of your own.",
  ENOTDIR: "A file stands where a folder is needed: move it away.",
  EMFILE: "Too many files are open: raise the limit with ulimit -n.",
  ENFILE: "Too many files are open on this computer.",
  EIO: "The disk could not be read or written: look into the kernel's log.",
};

function worldsFault(error: unknown): TalosError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "", syscall, path } = error as NodeJS.ErrnoException;
  // Below a folder that cannot be written, making folders says that there is none.
  const hint = code === "ENOENT" && syscall === "mkdir" ? advice.EROFS : advice[code];
  if (hint === undefined || syscall === undefined) return undefined;
  const reason = /^\w+: (.*?)(?:,|$)/.exec(error.message)?.[1] ?? error.message;
  const where = path === undefined ? syscall : `${syscall} ${path}`;
  return new TalosError("failed-precondition", `${where}: ${reason}`, { hint, cause: error });
}

/** What to do about an error that only says what happened, by the system's own error behind it. */
function adviceFor({ hint, cause }: TalosError): string | undefined {
  return hint ?? advice[(cause as NodeJS.ErrnoException | undefined)?.code ?? ""];
}

/** The environment that the command line names: what is below the commands knows it by its cluster only. */
function environmentIn(args: readonly string[] = [], context: CommandContext): string | undefined {
  const known = environmentsHere(context);
  return args.find((word) => known.includes(word));
}

/** A fault of the user or of the system is reported in a sentence and a hint; only a fault of talosmith shows its stack. `args`: what was typed. */
export function reportError(error: unknown, context: CommandContext, args?: readonly string[]): void {
  if (context.signal.aborted) {
    context.stderr.write(`${stoppedText(args)}\n`);
    context.exit(stopCode(context.signal));
    return;
  }
  const known = worldsFault(error) ?? TalosError.from(error);
  const about = known.node === undefined || known.message.includes(known.node) ? "" : `${known.node}: `;
  context.stderr.write(`Error: ${about}${known.shown}\n`);
  const hint = adviceFor(known)?.replaceAll("<environment>", (place) => environmentIn(args, context) ?? place);
  if (hint !== undefined) context.stderr.write(`  ${hint}\n`);
  // What a machine calls its own internal error is not ours.
  if (known.code === "internal" && known.node === undefined && known.cause instanceof Error) {
    context.stderr.write(
      `\nThis is a fault of talosmith. Please report it with these lines:\n${plainText(known.cause.stack ?? "")}\n`,
    );
  }
  context.exit(1);
}
