// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const command = resolve("bin/talosmith.js");

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Over a plain environment without terraform; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Put before the command, as `unshare` is; "$@" is the command. */
  readonly script?: string;
  /** Called with all that was said so far, and the process. */
  readonly onSaid?: (said: string, process: { readonly pid: number; kill(signal: NodeJS.Signals): void }) => void;
}

/** A project with one simulated machine, in a folder of its own. */
export function makeProject(more: Readonly<Record<string, string>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "talosmith-hostile-")));
  const files = {
    "cdktf.json": "{}",
    "environments/local.yaml": "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n",
    ...more,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

export const removeProject = (root: string): void => rmSync(root, { recursive: true, force: true });

/** The real command, to its end. */
export function talosmith(args: readonly string[], options: RunOptions): Promise<Ended> {
  const { cwd, env = {}, script, onSaid } = options;
  const words = [process.execPath, command, ...args];
  const [program = "", ...rest] = script === undefined ? words : ["/bin/sh", "-c", script, "sh", ...words];
  return new Promise((done, fail) => {
    const child = spawn(program, rest, {
      cwd,
      env: { PATH: "/usr/bin:/bin", HOME: cwd, ...env } as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    const said = () => onSaid?.(stdout + stderr, { pid: child.pid ?? 0, kill: (signal) => void child.kill(signal) });
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      said();
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
      said();
    });
    child.on("error", fail);
    child.on("close", (code, signal) => done({ code, signal, stdout, stderr }));
  });
}

export interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly line: string;
}

/**
 * Linux's processes that name the project or work in it, other than the simulator's daemon and the compiler that it has
 * started from sources: these are to stay.
 */
export function processesOf(root: string): readonly Running[] {
  if (process.platform !== "linux") return [];
  const all = processesAt(root);
  const daemons = new Set(all.filter(({ line }) => /daemon/.test(line)).map(({ pid }) => pid));
  return all.filter(({ pid, parent }) => !daemons.has(pid) && !daemons.has(parent));
}

function processesAt(root: string): readonly Running[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
        const here = line.includes(root) || readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
        return here ? [{ pid: Number(pid), parent: Number(parent), line }] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

/** Whether this user may mount, in a namespace that is gone with its process. */
export const mayMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", tmpdir()]).status === 0;

/** Runs "$@" in a copy of the working directory on a disk of its own, of which nothing is left afterwards. */
export const onOwnDisk = (prepare: string) => `exec unshare --mount /bin/sh -c '
  project="$PWD"; disk="$PWD/disk"; mkdir -p "$disk"
  mount -t tmpfs -o size=256k tmpfs "$disk" && cp -r "$project/environments" "$project/cdktf.json" "$disk"
  ${prepare}
  cd "$disk" && "$@"; code=$?
  find . -type f -size -1 ! -path "./generated/.simulator/*" -exec echo "empty file: {}" \\; ; exit $code' sh "$@"`;
