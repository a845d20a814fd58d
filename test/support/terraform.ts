// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { recordCells } from "./cells.ts";

export interface Tool {
  readonly name: "terraform" | "tofu";
  readonly path: string;
}

/** The real binaries there are: from the PATH, and tofu from TALOSMITH_TEST_TOFU. */
export function findTools(): Tool[] {
  const tools: Tool[] = [];
  for (const name of ["terraform", "tofu"] as const) {
    const own = name === "tofu" ? process.env.TALOSMITH_TEST_TOFU : undefined;
    const folders = (process.env.PATH ?? "").split(delimiter);
    const found = own ?? folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined && spawnSync(found, ["version"], { env: cleanEnvironment() }).status === 0)
      tools.push({ name, path: found });
  }
  return tools;
}

/** Nothing of the developer's own settings decides a test. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(TF_|TALOSMITH_|NODE_EXTRA_CA_CERTS$|NODE_OPTIONS$|VITEST)/.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1", ...extra };
}

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, without the frame that Terraform draws around diagnostics and with lines joined. */
  readonly text: string;
}

/** One temporary directory with a configuration, and the tool that is run in it. */
export class Workspace {
  readonly directory: string;
  readonly tool: Tool;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(tool: Tool, environment: Readonly<Record<string, string>> = {}) {
    this.tool = tool;
    this.#environment = environment;
    this.directory = mkdtempSync(join(tmpdir(), `talosmith-${tool.name}-`));
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.directory, name), content);
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), "utf8");
  }

  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    return spawn(this.tool.path, args, {
      cwd: this.directory,
      env: cleanEnvironment({ ...this.#environment, ...environment }),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
  }

  async run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
    const run = await finish(this.start(args, environment));
    recordCells({
      tool: this.tool.name,
      directory: this.directory,
      args,
      code: run.code,
      text: run.stdout + run.stderr,
    });
    return run;
  }

  /** Runs and throws with all output unless the exit code is the expected one: the reason first, for logs are cut. */
  async ok(args: readonly string[], environment: Readonly<Record<string, string>> = {}, code = 0): Promise<Run> {
    const run = await this.run(args, environment);
    if (run.code !== code)
      throw new Error(
        `${this.tool.name} ${args.join(" ")} ended with ${run.code}, not ${code}:\n${run.stderr}\n${run.stdout}`,
      );
    return run;
  }

  apply(...args: string[]): Promise<Run> {
    return this.ok(["apply", "-auto-approve", "-no-color", "-input=false", ...args]);
  }

  destroy(...args: string[]): Promise<Run> {
    return this.ok(["destroy", "-auto-approve", "-no-color", "-input=false", ...args]);
  }

  /** True when a plan finds nothing to do. */
  async isSettled(...args: string[]): Promise<boolean> {
    const run = await this.run(["plan", "-detailed-exitcode", "-no-color", "-input=false", ...args]);
    if (run.code === 0) return true;
    if (run.code === 2) return false;
    throw new Error(`plan failed:\n${run.stdout}\n${run.stderr}`);
  }

  /** The attributes of one resource as the state has them. */
  async resource(address: string): Promise<Record<string, unknown> | undefined> {
    const { stdout } = await this.ok(["show", "-json"]);
    const resources = JSON.parse(stdout).values?.root_module?.resources ?? [];
    return resources.find((item: { address: string }) => item.address === address)?.values;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function finish(child: ReturnType<Workspace["start"]>): Promise<Run> {
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      const text = `${stdout}\n${stderr}`.replace(/^[│╷╵] ?/gm, "").replace(/\s+/g, " ");
      resolve({ code, stdout, stderr, text });
    });
  });
}
