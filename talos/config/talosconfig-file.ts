// SPDX-License-Identifier: Apache-2.0
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../atomic-file.ts";
import { TalosError } from "../errors.ts";
import { encodeTalosconfig, parseTalosconfig, type Talosconfig } from "./talosconfig.ts";

/** Where a talosconfig is looked for, in talosctl's order. */
export function talosconfigPaths(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const home = env.TALOS_HOME || (env.HOME ? join(env.HOME, ".talos") : undefined);
  return [
    ...(env.TALOSCONFIG ? [env.TALOSCONFIG] : []),
    ...(home === undefined ? [] : [join(home, "config")]),
    "/var/run/secrets/talos.dev/config",
  ];
}

/** The first talosconfig that exists; where none does, the path where a new one belongs. */
export async function findTalosconfig(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const paths = talosconfigPaths(env);
  for (const path of paths) {
    // A file named by the user counts even when it is missing, so that the error is about it.
    if (path === env.TALOSCONFIG || (await exists(path))) return path;
  }
  return paths[0] ?? "/var/run/secrets/talos.dev/config";
}

export async function readTalosconfig(path: string): Promise<Talosconfig> {
  try {
    return parseTalosconfig(await readFile(path, "utf8"), path);
  } catch (cause) {
    if (cause instanceof TalosError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new TalosError(missing ? "not-found" : "unavailable", `${path}: cannot read the talosconfig`, {
      hint: "Name another file with TALOSCONFIG, or make one with: talosmith gen talosconfig",
      cause,
    });
  }
}

export async function writeTalosconfig(path: string, config: Talosconfig): Promise<void> {
  await writeFileAtomically(path, encodeTalosconfig(config));
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
