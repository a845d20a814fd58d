// SPDX-License-Identifier: Apache-2.0
// The real lock of a local state: of an apply that is at work, and of one that was killed before it created anything.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerDoctor } from "../../cli/commands/inspect.ts";
import { registerDestroy, registerUnlock } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

describe.each(tools)("a first apply of $name", (tool) => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-first-"));
  const at = (path: string) => join(root, path);
  const env = cleanEnvironment({ HOME: root });
  let apply: ChildProcess | undefined;

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env });
    await runProgram(createProgram(context, [registerDestroy, registerDoctor, registerUnlock]), args, context);
    return context.written;
  }

  /** Its first resource takes for ever: until something is made, the state is empty. */
  async function begin(): Promise<void> {
    apply = spawn(tool.path, ["apply", "-input=false", "-auto-approve"], {
      cwd: at("stack"),
      env,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    apply.stdout?.on("data", (part) => {
      said += part;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toContain("Creating...");
  }

  async function kill(): Promise<void> {
    if (apply?.pid === undefined || apply.exitCode !== null || apply.signalCode !== null) return;
    const ended = once(apply, "close");
    process.kill(-apply.pid, "SIGKILL");
    await ended;
  }

  beforeAll(async () => {
    for (const folder of ["environments", "state", "stack"]) mkdirSync(at(folder));
    writeFileSync(at("cdktf.json"), "{}");
    writeFileSync(
      at("environments/tiny.yaml"),
      "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\n",
    );
    const provisioner = [{ "local-exec": { command: "sleep 600" } }];
    const terraform = { backend: { local: { path: "../state/tiny.tfstate" } } };
    writeFileSync(
      at("stack/main.tf.json"),
      JSON.stringify({ terraform, resource: { terraform_data: { slow: { provisioner } } } }),
    );
    expect(await runCommand(tool.path, ["init", "-input=false"], { cwd: at("stack"), env })).toMatchObject({ code: 0 });
  });

  afterAll(async () => {
    await kill();
    rmSync(root, { recursive: true, force: true });
  });

  test.each(["unlock", "destroy"])(
    "that is at work is left alone by %s; when it was killed, it is cleared",
    async (command) => {
      await begin();
      expect(readFileSync(at("state/tiny.tfstate"), "utf8")).toBe("");
      const refused = await talosmith(command, "tiny");
      expect(refused.stderr).toMatch(/tiny\.tfstate is empty: \S+ is applying since/);
      expect(refused.exitCode).toBe(1);
      expect((await talosmith("doctor", "tiny")).stdout).toMatch(/^fault +tiny: state/m);
      await kill();
      expect((await talosmith("doctor", "tiny")).stdout).toMatch(/^ok +tiny: state +empty: \S+ was applying/m);
      const done = await talosmith(command, "tiny");
      expect(done.stderr).toMatch(/^Removed state\/tiny\.tfstate and its lock/m);
      expect(done.exitCode).toBe(0);
      expect(existsSync(at("state/tiny.tfstate"))).toBe(false);
      mkdirSync(at("state"), { recursive: true });
    },
  );
});
