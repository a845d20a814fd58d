// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { join } from "node:path";
import { writeFileAtomically } from "../talos/atomic-file.ts";
import { programPath } from "../talos/program-path.ts";
import type { CommandContext } from "./context.ts";

/** What opens a file in the user's browser. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
  linux: ["xdg-open"],
};

/** The command that opens a file in the user's browser. */
export interface Browser {
  readonly command: readonly string[];
}

/** Why no browser is opened; empty in CI, without a terminal and with BROWSER=none. */
export interface NoBrowser {
  readonly missing: string;
}

/**
 * The browser of the person before this terminal: what BROWSER names, as other programs take it (`none` for none), else the
 * system's own.
 */
export function findBrowser(
  { env, stderr }: Pick<CommandContext, "env" | "stderr">,
  platform: NodeJS.Platform = process.platform,
): Browser | NoBrowser {
  const set = (...names: readonly string[]) => names.some((name) => (env[name] ?? "") !== "");
  if (!stderr.isTerminal || set("CI") || env.BROWSER === "none") return { missing: "" };
  if (set("BROWSER")) return namedBrowser(env.BROWSER ?? "", env.PATH, platform);
  const [name = "", ...args] = openers[platform] ?? [];
  if (name === "") return { missing: `how to open one on ${platform} is not known: name it with BROWSER` };
  if (platform === "linux" && !set("DISPLAY", "WAYLAND_DISPLAY")) return { missing: "there is no display" };
  if (platform !== "linux" && set("SSH_CONNECTION", "SSH_TTY")) return { missing: "this is a session over SSH" };
  const program = platform === "win32" ? name : programPath(name, env.PATH);
  return program === undefined
    ? { missing: `${name} is not on the PATH: install it, or name a browser with BROWSER` }
    : { command: [program, ...args] };
}

/** Of several the first that is there; each may have arguments. */
function namedBrowser(value: string, path: string | undefined, platform: NodeJS.Platform): Browser | NoBrowser {
  const named = platform === "win32" ? [value] : value.split(":");
  for (const one of named) {
    const [name = "", ...args] = one.trim().split(/\s+/);
    const program = programPath(name, path);
    if (program !== undefined) return { command: [program, ...args] };
  }
  return { missing: `${value}, which BROWSER names, is no program on the PATH` };
}

/**
 * Opens a private address. The browser gets a file that only the user can read and that leads there, for others on the
 * machine see the arguments of a program. Returns the file's path.
 */
export async function openInBrowser(
  address: string,
  folder: string,
  { command: [program = "", ...args] }: Browser,
  { env }: Pick<CommandContext, "env">,
): Promise<string> {
  const file = join(folder, `ui-${process.pid}.html`);
  await writeFileAtomically(file, redirect(address));
  const given = args.map((argument) => argument.replaceAll("%s", file));
  const isPlaced = given.some((argument, index) => argument !== args[index]);
  const all = isPlaced ? given : [...given, file];
  const child = spawn(program, all, { env: { ...env }, stdio: "ignore", detached: true });
  // The address was printed: a person can open it by hand.
  child.on("error", () => {});
  child.unref();
  return file;
}

const redirect = (address: string) =>
  `<!doctype html><meta charset="utf-8"><title>talosmith</title><meta http-equiv="refresh" content="0; url=${address}">\n`;
