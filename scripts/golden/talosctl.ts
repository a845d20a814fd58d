// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a patched config is, or why there is none. */
export type Patched = { readonly expected: string } | { readonly error: string };

export interface Verdict {
  readonly warnings: readonly string[];
  readonly error: string | null;
}

export const modes = ["metal", "cloud", "container"] as const;

/** A real talosctl, for its offline commands. */
export class Talosctl {
  /** Such as `v1.14.1`. */
  readonly version: string;
  readonly #program: string;
  readonly #folder: string;

  /** Throws when the program cannot be started, or does not say which release it is. */
  constructor(program: string) {
    const { status, stdout, stderr, error } = spawnSync(program, ["version", "--client"], { encoding: "utf8" });
    const version = /Tag:\s+(v\d+\.\d+\.\d+\S*)/.exec(stdout ?? "")?.[1];
    if (error !== undefined || status !== 0 || version === undefined)
      throw new Error(`${program} is not a talosctl that says its version: ${error?.message ?? (stderr || stdout)}`);
    this.version = version;
    this.#program = program;
    this.#folder = mkdtempSync(join(tmpdir(), "golden-"));
  }

  /** The minor release, `1.14`: the name of the folder or file that keeps what it printed. */
  get minor(): string {
    return this.version.split(".").slice(0, 2).join(".").slice(1);
  }

  /** The files that `gen config` writes, in the folder that relative paths of the arguments start from. */
  generate(args: readonly string[], cwd: string): Readonly<Record<"controlplane.yaml" | "worker.yaml", string>> {
    const output = join(this.#folder, "out");
    rmSync(output, { recursive: true, force: true });
    mkdirSync(output);
    const quiet = ["--with-docs=false", "--with-examples=false", "--output-types", "controlplane,worker"];
    const { status, stderr } = this.#run(["gen", "config", ...args, ...quiet, "--output", output], cwd);
    if (status !== 0) throw new Error(`gen config ${args.join(" ")}: ${stderr}`);
    const read = (name: string) => readFileSync(join(output, name), "utf8");
    return { "controlplane.yaml": read("controlplane.yaml"), "worker.yaml": read("worker.yaml") };
  }

  patch(config: string, patches: readonly string[]): Patched {
    const file = this.#file("config.yaml", config);
    const args = patches.flatMap((patch, index) => ["--patch", `@${this.#file(`patch-${index}.yaml`, patch)}`]);
    const output = join(this.#folder, "patched.yaml");
    const { status, stderr } = this.#run(["machineconfig", "patch", file, ...args, "--output", output]);
    return status === 0 ? { expected: readFileSync(output, "utf8") } : { error: stderr.trimEnd() };
  }

  validate(config: string, mode: string, strict = false): Verdict {
    const file = this.#file("config.yaml", config);
    const flags = strict ? ["--strict"] : [];
    const { status, stderr } = this.#run(["validate", "--config", file, "--mode", mode, ...flags]);
    const { warnings, rest } = splitWarnings(stderr);
    return { warnings, error: status === 0 ? null : rest.trimEnd() };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #file(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }

  #run(args: readonly string[], cwd = this.#folder): { status: number | null; stderr: string } {
    const { status, stderr, error } = spawnSync(this.#program, args, { cwd, encoding: "utf8" });
    if (error !== undefined) throw error;
    return { status, stderr };
  }
}

/** Warnings come first, each on a line of its own. */
function splitWarnings(stderr: string): { readonly warnings: readonly string[]; readonly rest: string } {
  const mark = "WARNING: ";
  const lines = stderr.split("\n");
  const end = lines.findIndex((line) => !line.startsWith(mark));
  const count = end < 0 ? lines.length : end;
  return {
    warnings: lines.slice(0, count).map((line) => line.slice(mark.length)),
    rest: lines.slice(count).join("\n"),
  };
}
