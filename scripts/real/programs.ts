// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { giveInput } from "../../talos/child-input.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  /** Both streams in the order in which they came. */
  readonly said: string;
  readonly seconds: number;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the command by this signal as soon as this was printed. */
  readonly endAt?: { readonly text: RegExp; readonly signal: "SIGKILL" | "SIGTERM" };
  /** Ends the command by SIGKILL after so many seconds. */
  readonly killAfter?: number;
  readonly stdin?: string;
  /** Ends the command by SIGINT, after which it stops at the next safe point. */
  readonly signal?: AbortSignal;
}

export interface ProgramsOptions {
  /** Folder of the project. */
  readonly root: string;
  /** Its environment. */
  readonly name: string;
  /** Words before each program. @default none */
  readonly within?: readonly string[];
  /** What programs know of their surroundings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Words of the command that is tried. @default the one of this checkout */
  readonly command?: readonly string[];
  /** In a process group of its own, so that Ctrl-C reaches only those who know what then has to be done. @default false */
  readonly detached?: boolean;
  /** As in a run's options, for every program. @default none */
  readonly signal?: AbortSignal;
  /** The same. @default 15 minutes: a command that takes longer is taken for one that hangs */
  readonly killAfter?: number;
}

/** The programs that run in the folder of a project. What they print is kept in its log.txt. */
export class Programs {
  readonly root: string;
  readonly name: string;
  readonly #options: ProgramsOptions;

  constructor(options: ProgramsOptions) {
    this.root = options.root;
    this.name = options.name;
    this.#options = options;
  }

  /** The real command, to its end. */
  talosmith(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { command = [process.execPath, resolve("bin/talosmith.js")] } = this.#options;
    return this.run([...command, ...words], options);
  }

  kubectl(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const kubeconfig = join(this.root, "generated", this.name, "kubeconfig");
    return this.run(["kubectl", "--kubeconfig", kubeconfig, ...words], options);
  }

  /** The answer of the Kubernetes API to a GET. */
  async kubernetes(path: string): Promise<unknown> {
    return JSON.parse((await this.kubectl(["get", "--raw", path])).stdout);
  }

  apply(...objects: readonly unknown[]): Promise<Ended> {
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    return this.kubectl(["apply", "-f", "-"], { stdin });
  }

  run(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { within = [], env, detached = false } = this.#options;
    const { signal = this.#options.signal, killAfter = this.#options.killAfter ?? 900 } = options;
    const [program = "", ...rest] = [...within, ...words];
    const began = performance.now();
    const child = spawn(program, rest, {
      cwd: this.root,
      env: { ...env, NO_COLOR: "1", ...options.env },
      detached,
      stdio: ["pipe", "pipe", "pipe"],
    });
    giveInput(child.stdin, options.stdin ?? "");
    let [stdout, said] = ["", ""];
    const hear = (text: string) => {
      said += text;
      appendFileSync(join(this.root, "log.txt"), text);
      if (options.endAt?.text.test(said)) child.kill(options.endAt.signal);
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      hear(text);
    });
    child.stderr.setEncoding("utf8").on("data", hear);
    const hangs = setTimeout(() => child.kill("SIGKILL"), killAfter * 1000);
    const stop = () => child.kill("SIGINT");
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    appendFileSync(join(this.root, "log.txt"), `\n$ ${words.slice(1).join(" ")}\n`);
    return new Promise((done, fail) => {
      child.on("error", fail);
      child.on("close", (code) => {
        clearTimeout(hangs);
        signal?.removeEventListener("abort", stop);
        done({ code, stdout, said, seconds: (performance.now() - began) / 1000 });
      });
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
