// SPDX-License-Identifier: Apache-2.0
import { TalosError, type TalosErrorCode } from "./errors.ts";

const codes: Readonly<Record<string, TalosErrorCode>> = {
  ENOENT: "not-found",
  EACCES: "permission-denied",
  EPERM: "permission-denied",
  EROFS: "permission-denied",
};

/**
 * What the file system refused, in the form of talosctl's messages: `open secrets.yaml: permission denied`. The path is
 * the one the user knows, not a temporary name.
 */
export function fileError(action: "open" | "write", path: string, cause: unknown, hint?: string): TalosError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const reason = /^\w+: (.*?)(?:,|$)/.exec(message)?.[1] ?? message;
  return new TalosError(codes[code] ?? "failed-precondition", `${action} ${path}: ${reason}`, { hint, cause });
}
