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

/** Whether there is a person with a browser before this terminal. */
export function hasBrowser(
  { env, stderr }: Pick<CommandContext, "env" | "stderr">,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const set = (...names: readonly string[]) => names.some((name) => (env[name] ?? "") !== "");
  if (!stderr.isTerminal || set("CI") || openers[platform] === undefined) return false;
  const hasDisplay = set("DISPLAY", "WAYLAND_DISPLAY");
  return hasDisplay || (platform !== "linux" && !set("SSH_CONNECTION", "SSH_TTY"));
}

/**
 * Opens a private address. The browser gets a file that only the user can read and that leads there, for others on the
 * machine see the arguments of a program. The file's path; undefined where no browser could be started.
 */
export async function openInBrowser(
  address: string,
  folder: string,
  { env }: Pick<CommandContext, "env">,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const [name = "", ...args] = openers[platform] ?? [];
  const program = platform === "win32" ? name : programPath(name, env.PATH);
  if (program === undefined) return undefined;
  const file = join(folder, `ui-${process.pid}.html`);
  await writeFileAtomically(file, redirect(address));
  const child = spawn(program, [...args, file], { env: { ...env }, stdio: "ignore", detached: true });
  // The address was printed: a person can open it by hand.
  child.on("error", () => {});
  child.unref();
  return file;
}

const redirect = (address: string) =>
  `<!doctype html><meta charset="utf-8"><title>talosmith</title><meta http-equiv="refresh" content="0; url=${address}">\n`;
