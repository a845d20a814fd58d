// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findProgram, programFolder } from "./programs.ts";

/** What any computer has, as far as pages and npm use it. */
const basics =
  "bash sh env node npm git cat chmod cp cut dirname basename grep gzip head hostname id ln ls mkdir mktemp mv openssl ps pwd readlink rm sed sleep sort tar tail tee touch tr true uname wc which xargs";

export interface Typed {
  readonly line: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where npm finds its registry and what it has fetched before. */
function npmSettings(): Readonly<Record<string, string>> {
  const own = Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name));
  return {
    npm_config_userconfig: join(homedir(), ".npmrc"),
    npm_config_cache: join(homedir(), ".npm"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_prefer_offline: "true",
    npm_config_update_notifier: "false",
    ...Object.fromEntries(own),
  } as Record<string, string>;
}

/** A reader's shell: a bash that keeps its folder and variables from line to line, and sees only the programs it is given. */
export class PageShell {
  readonly home: string;
  /** Where the reader is at the beginning of a page. */
  readonly root: string;
  readonly path: string;
  readonly #notes = mkdtempSync(join(tmpdir(), "talosmith-shell-"));
  readonly #bash: ChildProcess;
  #typed = 0;

  constructor(options: {
    readonly root: string;
    readonly programs?: Readonly<Record<string, string | undefined>>;
    readonly env?: Readonly<Record<string, string | undefined>>;
    /** `checkout`: npx runs this checkout's own program; `npm`: the real one, in a folder that has packages. */
    readonly npx?: "checkout" | "npm";
  }) {
    this.root = options.root;
    this.home = join(this.#notes, "home");
    mkdirSync(this.home);
    const everywhere = Object.fromEntries(basics.split(" ").map((name) => [name, findProgram(name)]));
    this.path = programFolder({ ...everywhere, ...options.programs });
    if (options.npx === "npm") symlinkSync(findProgram("npx") ?? "npx", join(this.path, "npx"));
    // npx finds the package of the checkout or project that a reader is in; these folders are in none.
    else
      this.standIn(
        "npx",
        `[ "$1" = talosmith ] || { echo "npx $1: not here" >&2; exit 127; }\nshift\nexec node '${resolve("bin/talosmith.js")}' "$@"`,
      );
    // Readers say yes when terraform asks.
    writeFileSync(join(this.#notes, "answers"), "yes\n".repeat(20));
    this.#bash = spawn(findProgram("bash") ?? "bash", ["--noprofile", "--norc"], {
      cwd: this.root,
      env: {
        PATH: this.path,
        HOME: this.home,
        ...npmSettings(),
        CHECKPOINT_DISABLE: "1",
        NO_COLOR: "1",
        LANG: "C.UTF-8",
        ...options.env,
      },
      stdio: ["pipe", "ignore", "inherit"],
      detached: true,
    });
    // Ctrl-C ends what runs in the shell, not the shell.
    this.#write("trap : INT");
  }

  /** A program that is not here, as a script of sh. */
  standIn(name: string, script: string): void {
    const file = join(this.path, name);
    rmSync(file, { force: true });
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  has(name: string): boolean {
    return existsSync(join(this.path, name));
  }

  #write(line: string): void {
    this.#bash.stdin?.write(`${line}\n`);
  }

  /** Types a line. With `until`, Ctrl-C follows as soon as that is on the screen. */
  async type(line: string, until?: RegExp): Promise<Typed> {
    const at = join(this.#notes, String(this.#typed++));
    writeFileSync(`${at}.sh`, `${line}\n`);
    this.#write(
      `. ${at}.sh <${this.#notes}/answers >${at}.out 2>${at}.err; echo $? >${at}.part; mv ${at}.part ${at}.code`,
    );
    const read = (name: string) => (existsSync(`${at}.${name}`) ? readFileSync(`${at}.${name}`, "utf8") : "");
    let interrupted = false;
    while (!existsSync(`${at}.code`)) {
      if (this.#bash.exitCode !== null) throw new Error(`the shell ended at: ${line}\n${read("err")}`);
      if (!interrupted && until?.test(read("out") + read("err")) && this.#bash.pid !== undefined) {
        interrupted = true;
        process.kill(-this.#bash.pid, "SIGINT");
      }
      await new Promise((done) => setTimeout(done, 20));
    }
    return { line, code: Number(read("code")), stdout: read("out"), stderr: read("err") };
  }

  /** As `type`, of what must work. */
  async ok(line: string): Promise<Typed> {
    const typed = await this.type(line);
    if (typed.code !== 0) throw new Error(`${line}\nended with ${typed.code}:\n${typed.stderr}\n${typed.stdout}`);
    return typed;
  }

  async end(): Promise<void> {
    if (this.#bash.pid !== undefined && this.#bash.exitCode === null) {
      const gone = new Promise((done) => this.#bash.once("close", done));
      process.kill(-this.#bash.pid, "SIGKILL");
      await gone;
    }
    for (const folder of [this.#notes, this.path]) rmSync(folder, { recursive: true, force: true });
  }
}
