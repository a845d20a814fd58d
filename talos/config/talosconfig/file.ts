// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { writeFileAtomically } from "../../atomic-file.ts";
import { TalosError } from "../../errors.ts";
import { fileError } from "../../file-error.ts";
import { isGiven } from "../../given.ts";
import { encodeTalosconfig, parseTalosconfig } from "./codec.ts";
import type { Talosconfig } from "./talosconfig.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Mounted by Kubernetes into pods that may use the Talos API; not ours to change. */
const mounted = "/var/run/secrets/talos.dev/config";

/** Where a talosconfig is looked for, in talosctl's order. */
export function talosconfigPaths(env: Environment): readonly string[] {
  const named = env.TALOS_HOME !== undefined && isAbsolute(env.TALOS_HOME) ? env.TALOS_HOME : undefined;
  const home = named ?? (env.HOME ? join(env.HOME, ".talos") : undefined);
  return [env.TALOSCONFIG || undefined, home && join(home, "config"), mounted].filter(isGiven);
}

/** The first talosconfig that exists; where none does, the path where a new one belongs. */
export async function findTalosconfig(env: Environment): Promise<string> {
  const paths = talosconfigPaths(env);
  for (const path of paths) {
    // A file named by the user counts even when it is missing: another cluster's would be a bad surprise.
    if (path === env.TALOSCONFIG || existsSync(path)) return path;
  }
  return paths[0] ?? mounted;
}

/** Reads a talosconfig. With `missing: "empty"`, one that is not there has no contexts. */
export async function readTalosconfig(
  path: string,
  options: { readonly missing?: "fail" | "empty" } = {},
): Promise<Talosconfig> {
  try {
    return parseTalosconfig(await readFile(path, "utf8"), path);
  } catch (cause) {
    if (cause instanceof TalosError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (missing && options.missing === "empty") return { context: "", contexts: new Map() };
    const hint = "Name another file with TALOSCONFIG, or make one with: talosmith gen talosconfig";
    throw fileError("open", path, cause, hint);
  }
}

export async function writeTalosconfig(path: string, config: Talosconfig): Promise<void> {
  if (path === mounted) throw new TalosError("failed-precondition", `not allowed to write to config: ${path}`);
  // A link to the file stays a link.
  const target = existsSync(path) ? await realpath(path) : path;
  await writeFileAtomically(target, encodeTalosconfig(config));
}
