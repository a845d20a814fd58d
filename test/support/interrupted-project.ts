// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect } from "vitest";
import { processesOf, type Running } from "../hostile/project.ts";
import { kubernetesGet } from "./kubernetes-get.ts";

export type Signal = "SIGINT" | "SIGKILL";
export type Whom = "talosmith" | "terraform" | "provider";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
  readonly seconds: number;
}

/** Where in a run it is interrupted: at the entry of a file that it or its children append to. */
export interface Moment {
  /** Path in the project. */
  readonly file: string;
  readonly when: (line: string) => boolean;
  /** Which of the entries that fit. */
  readonly nth: number;
}

export interface Interruption {
  readonly at: Moment;
  readonly signal: Signal;
  readonly whom: Whom;
  /** As Ctrl-C in a terminal: the whole foreground process group, not only its first process. */
  readonly group: boolean;
}

/** A project folder with a temporary folder and a home folder inside, and the programs that run in it. */
export class InterruptedProject {
  readonly root: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(root: string, env: Readonly<Record<string, string>>) {
    this.root = root;
    this.#env = { ...env, HOME: join(root, "home"), TMPDIR: join(root, "tmp") };
    for (const folder of ["home", "tmp"]) mkdirSync(join(root, folder), { recursive: true });
  }

  path(name: string): string {
    return join(this.root, name);
  }

  read(name: string): string | undefined {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : undefined;
  }

  /** Runs a command to its end. The first word is `talosmith`, or a program; with an interruption it is hit on the way. */
  run(words: readonly string[], interruption?: Interruption, folder = "."): Promise<Ended & { readonly hit: boolean }> {
    const [program = "", ...args] = words;
    const [file, rest] =
      program === "talosmith" ? [process.execPath, [resolve("bin/talosmith.js"), ...args]] : [program, args];
    const began = performance.now();
    return new Promise((done, fail) => {
      const child = spawn(file, rest, {
        cwd: this.path(folder),
        env: this.#env,
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text) => {
          said += text;
        });
      const top: Whom = program === "talosmith" ? "talosmith" : "terraform";
      const watch =
        interruption === undefined ? undefined : this.#interruptWhen(interruption, { pid: child.pid ?? 0, is: top });
      child.on("error", fail);
      child.on("close", (code, signal) => {
        const hit = watch?.stop() ?? false;
        done({ code, signal, said, hit, seconds: (performance.now() - began) / 1000 });
      });
    });
  }

  /** Follows the file from its present end. */
  #interruptWhen({ at, signal, whom, group }: Interruption, top: { readonly pid: number; readonly is: Whom }) {
    const file = this.path(at.file);
    let offset = existsSync(file) ? statSync(file).size : 0;
    let rest = "";
    let seen = 0;
    let due = false;
    let hit = false;
    const look = () => {
      if (hit) return;
      const [text, end] = readFrom(file, offset);
      offset = end;
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      seen += lines.filter(at.when).length;
      due ||= seen >= at.nth;
      if (!due) return;
      const target = find(whom, top, processesOf(this.root));
      if (target === undefined) return;
      hit = send(signal, group ? -target : target);
    };
    const timer = setInterval(look, 2);
    return {
      stop: () => {
        clearInterval(timer);
        return hit;
      },
    };
  }

  /** Nothing of the project runs any more, but for the simulator. A provider looks for its terraform every second. */
  async settled(): Promise<void> {
    await expect.poll(() => processesOf(this.root), { timeout: 180_000, interval: 50 }).toEqual([]);
  }

  /** Files of the project, without what programs keep for themselves. */
  files(): string[] {
    return (
      readdirSync(this.root, { recursive: true, withFileTypes: true })
        // A folder counts where there should be none.
        .filter((entry) => !entry.isDirectory() || entry.parentPath === this.path("tmp"))
        .map((entry) => relative(this.root, join(entry.parentPath, entry.name)))
        .filter((file) => !/^(generated\/\.simulator|cdktf\.out\/.*\/(terraform\.d|\.terraform)|home)\//.test(file))
        .sort()
    );
  }

  /** Nodes that are cordoned, or that talosmith remembers to have cordoned. */
  async cordoned(): Promise<string[]> {
    const { items } = JSON.parse(await kubernetesGet(this.read("generated/local/kubeconfig") ?? "", "/api/v1/nodes"));
    interface Node {
      readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
      readonly spec: { readonly unschedulable?: boolean };
    }
    return (items as Node[])
      .filter(({ metadata, spec }) => spec.unschedulable || metadata.annotations?.["talosmith.internal/cordoned"])
      .map(({ metadata }) => metadata.name);
  }
}

function readFrom(file: string, offset: number): readonly [text: string, end: number] {
  if (!existsSync(file)) return ["", 0];
  const { size } = statSync(file);
  if (size <= offset) return ["", offset];
  const handle = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(size - offset);
    const read = readSync(handle, buffer, 0, buffer.length, offset);
    return [buffer.toString("utf8", 0, read), offset + read];
  } finally {
    closeSync(handle);
  }
}

/** talosmith has started terraform, and terraform the provider; without terraform there is talosmith alone. */
function find(
  whom: Whom,
  top: { readonly pid: number; readonly is: Whom },
  all: readonly Running[],
): number | undefined {
  if (whom === top.is) return top.pid;
  const terraform =
    top.is === "terraform"
      ? top.pid
      : all.find(({ parent, line }) => parent === top.pid && /^\S*(terraform|tofu) /.test(line))?.pid;
  return whom === "terraform"
    ? terraform
    : all.find(({ parent, line }) => parent === terraform && /terraform-provider/.test(line))?.pid;
}

/** False when it had ended already. */
function send(signal: NodeJS.Signals, pid: number): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}
