// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { completionScripts, type Shell, shells } from "../../cli/completion/scripts.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";
import { findProgram } from "../support/programs.ts";
import { runCommand } from "../support/run-command.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-completion-"));
mkdirSync(join(root, "environments"));
writeFileSync(join(root, "cdktf.json"), "{}");
writeFileSync(join(root, "talosconfig"), "context: demo\ncontexts:\n  demo:\n    endpoints: [192.0.2.7]\n");
writeFileSync(
  join(root, "environments/local.yaml"),
  "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\naddons: [{ name: app, chart: ./charts/app }]\n",
);
writeFileSync(
  join(root, "environments/lab.yaml"),
  "infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n",
);
mkdirSync(join(root, "generated/local"), { recursive: true });
writeFileSync(
  join(root, "generated/local/talosconfig"),
  "context: local\ncontexts:\n  local:\n    endpoints: [127.7.7.2]\n    nodes: [127.7.7.2, 127.7.7.3]\n",
);
writeFileSync(join(root, "environments/broken.yaml"), "infrastructure: { kind: unknown }\n");
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a shell is told for a command line whose last word is being typed. */
async function offered(line: string): Promise<readonly string[]> {
  const context = testContext({ cwd: root, env: { TALOSCONFIG: join(root, "talosconfig") } });
  await runProgram(createProgram(context, registrations), ["__complete", "--", ...line.split(" ")], context);
  return context.written.stdout
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => text.split("\t")[0] ?? "");
}

describe("what completion offers", () => {
  test.each([
    ["dep", ["deploy"]],
    ["upgrade ", ["talos", "k8s", "broken", "lab", "local"]],
    ["upgrade ta", ["talos"]],
    ["upgrade lo", ["local"]],
    ["backup ", ["create", "list", "verify", "prune", "drill", "run", "help"]],
    ["deploy ", ["broken", "lab", "local"]],
    ["deploy lo", ["local"]],
    ["deploy local --ye", ["--yes"]],
    ["topology lab --format ", ["svg", "mermaid", "json"]],
    ["topology lab --format = m", ["mermaid"]],
    ["topology lab --format=m", ["--format=mermaid"]],
    ["sim power ", ["local-cp-1", "local-w-1"]],
    ["reboot -n 10.0.0.7", ["10.0.0.70"]],
    ["reboot --nodes 192", ["192.0.2.7"]],
    ["reboot -n 127.7", ["127.7.7.2", "127.7.7.3"]],
    ["reboot -n 10.0.0.70,10.0.0.8", ["10.0.0.70,10.0.0.80"]],
    ["config use-context ", ["demo"]],
    ["addon apply local ", ["app"]],
    ["addon apply lab ", []],
    ["kubeconfig lab ", [":files"]],
    ["apply -f ", [":files"]],
    ["deploy -- lo", ["local"]],
    ["plan --no-kubernetes lo", ["local"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["deploy local more ", []],
  ])("after %j: %j", async (line, expected) => {
    expect(await offered(line)).toEqual(expected);
  });

  test("hidden commands and flags are not offered, all others are", async () => {
    const commands = await offered("");
    expect(commands).toContain("deploy");
    expect(commands).not.toContain("__complete");
    expect(commands).not.toContain("machineconfig");
    expect(await offered("gen config x y --no-with")).toEqual([]);
  });

  test("outside of a project there are no names, and no error", async () => {
    const context = testContext({ cwd: "/" });
    await runProgram(createProgram(context, registrations), ["__complete", "--", "deploy", ""], context);
    expect(context.written).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });
});

/** How each shell is made to complete `talosmith deploy lo`, without a terminal. */
const drivers: Readonly<Record<Shell, readonly string[]>> = {
  bash: [
    "-c",
    'source ./script; COMP_WORDS=(talosmith deploy lo); COMP_CWORD=2; _talosmith; printf "%s\\n" "${COMPREPLY[@]}"',
  ],
  zsh: [
    "-fc",
    '_describe() { print -l -- "${(@P)2}" }; _files() { print files }; source ./script; words=(talosmith deploy lo); CURRENT=3; _talosmith',
  ],
  fish: ["--no-config", "-c", "source ./script; complete -C 'talosmith deploy lo'"],
};

for (const shell of shells) {
  const program = findProgram(shell);
  test.skipIf(program === undefined)(`a real ${shell} completes the name of an environment`, async () => {
    const folder = mkdtempSync(join(root, "bin-"));
    const command = join(folder, "talosmith");
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(process.cwd(), "bin/talosmith.js")}" "$@"\n`);
    chmodSync(command, 0o755);
    writeFileSync(join(root, "script"), completionScripts[shell]);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: root };
    const { stdout, stderr } = await runCommand(program ?? "", drivers[shell], { cwd: root, env });
    expect({ words: stdout.trim().split("\n"), stderr }).toEqual({ words: ["local"], stderr: "" });
  });
}
