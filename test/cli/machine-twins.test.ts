// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { systemClock } from "../../talos/clock.ts";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { testContext } from "../support/command-context.ts";

/** talosctl's commands for single machines, on one control plane and one worker of the simulator. */
describe("commands for single machines in a project", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-twins-"));
  const talosconfig = join(root, "generated/tiny/talosconfig");
  const addresses = { cp: "" };

  /** Without a talosconfig that talosctl would find. */
  async function inProject(...args: string[]) {
    const context = testContext({ cwd: root, env: { HOME: root }, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }

  beforeAll(async () => {
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n",
    );
    expect((await inProject("up", "tiny")).exitCode).toBe(0);
    const { machines } = JSON.parse((await inProject("sim", "list", "--json")).stdout);
    addresses.cp = machines.find(({ name }: { name: string }) => name === "tiny-cp-1").address;
  });

  afterAll(async () => {
    await inProject("sim", "down", "--all");
    rmSync(root, { recursive: true, force: true });
  });

  test("-e takes an environment: its talosconfig, its first control plane, its machines by name", async () => {
    const first = await inProject("get", "machinestatus", "-e", "tiny");
    expect(first.stdout).toMatch(new RegExp(`^${addresses.cp} +runtime +MachineStatus`, "m"));
    const named = await inProject("get", "machinestatus", "-e", "tiny", "-n", "tiny-cp-1,w-1");
    expect(named.stdout).toMatch(/^tiny-cp-1 +runtime[\s\S]*^tiny-w-1 +runtime/m);
    const typed = await inProject("get", "machinestatus", "-e", "tiny", "-n", "tiny-w-2");
    expect(typed.stderr).toContain(
      "no machine is called tiny-w-2\n  Did you mean tiny-w-1? There are: tiny-cp-1, tiny-w-1.",
    );
    const environment = await inProject("reboot", "-e", "tin");
    expect(environment.stderr).toContain("no environment is called tin\n  Did you mean tiny? There are: tiny.");
    expect(environment.stderr).toContain("--endpoints tin");
    // Addresses are talosctl's own meaning of -e.
    const address = await inProject("get", "members", "-e", addresses.cp, "--talosconfig", talosconfig);
    expect(address.exitCode).toBe(0);
  });

  test("-e makes a talosconfig of the secrets where the file is missing", async () => {
    renameSync(talosconfig, `${talosconfig}.away`);
    try {
      expect((await inProject("get", "machinestatus", "-e", "tiny")).exitCode).toBe(0);
      expect(existsSync(talosconfig)).toBe(false);
    } finally {
      renameSync(`${talosconfig}.away`, talosconfig);
    }
  });

  test("logs and dmesg print talosctl's lines, whole or the last ones, as text and as JSON", async () => {
    const { stdout } = await inProject("logs", "-e", "tiny", "-n", "cp-1,w-1", "kubelet");
    expect(stdout).toMatch(/^tiny-cp-1: \{.*"service":"kubelet"\}$/m);
    expect(stdout).toMatch(/^tiny-w-1: /m);
    const tail = await inProject("logs", "-e", "tiny", "kubelet", "--tail", "1", "--json");
    expect(
      tail.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([{ v: 1, node: addresses.cp, line: expect.stringContaining("kubelet") }]);
    expect((await inProject("dmesg", "-e", "tiny", "-n", "w-1")).stdout).toMatch(/^tiny-w-1: kern: +notice: .*Linux/);
    const unknown = await inProject("logs", "-e", "tiny", "nosuch");
    expect(unknown.stderr).toContain('log "nosuch" was not registered');
    expect(unknown.exitCode).toBe(1);
  });

  test("service and etcd print talosctl's tables", async () => {
    const list = await inProject("services", "-e", "tiny", "-n", "cp-1");
    expect(list.stdout).toMatch(/^NODE +SERVICE +STATE +HEALTH +LAST CHANGE +LAST EVENT\n/);
    expect(list.stdout).toMatch(/^tiny-cp-1 +etcd +Running +OK +(\d+m)?\d+s ago +\S/m);
    const one = await inProject("service", "etcd", "-e", "tiny", "-n", "cp-1");
    expect(one.stdout).toMatch(
      /^NODE +tiny-cp-1\nID +etcd\nSTATE +Running\nHEALTH +OK\n[\s\S]*^EVENTS +\[Running\]: .* ago\)$/m,
    );
    expect(await inProject("service", "nosuch", "-e", "tiny")).toMatchObject({
      stderr: 'Error: service "nosuch" is not registered on any nodes\n',
      exitCode: 1,
    });
    const restarted = await inProject("service", "kubelet", "restart", "-e", "tiny", "-n", "w-1");
    expect(restarted.stdout).toMatch(/^NODE +RESPONSE\ntiny-w-1 +\S.*\n$/);
    const members = await inProject("etcd", "members", "-e", "tiny");
    expect(members.stdout).toMatch(/^NODE +ID +HOSTNAME +PEER URLS +CLIENT URLS +LEARNER\n/);
    expect(members.stdout).toMatch(/ [0-9a-f]{16} +tiny-cp-1 +https:\/\/\S+:2380 +https:\/\/\S+:2379 +false$/m);
    const { members: found } = JSON.parse((await inProject("etcd", "status", "-e", "tiny", "--json")).stdout);
    expect(found).toMatchObject([{ node: addresses.cp, memberId: found[0].leaderId, learner: false }]);
    expect((await inProject("etcd", "status", "-e", "tiny")).stdout).toMatch(/ kB|MB \(\d+\.\d\d%\) /);
    expect((await inProject("etcd", "leave", "-e", "tiny", "-n", "cp-1,w-1")).stderr).toContain("is for one machine");
  });

  test("config new takes an environment, too, and keeps its endpoints", async () => {
    expect(
      await inProject("config", "new", "reader", "--roles", "os:reader", "-e", "tiny", "-n", "cp-1"),
    ).toMatchObject({
      stderr: "",
      exitCode: 0,
    });
    const { context, contexts } = parseTalosconfig(readFileSync(join(root, "reader"), "utf8"), "reader");
    expect(contexts.get(context)?.endpoints).toEqual([addresses.cp]);
    const named = await inProject("config", "new", "named", "-e", addresses.cp, "--talosconfig", talosconfig);
    expect(named.exitCode).toBe(0);
  });

  test.each([
    ["topology", "tiny"],
    ["init", "other", "--kind", "simulated"],
    ["synth", "tiny"],
    ["sim", "up"],
    ["sim", "fault", "tiny-w-1"],
    ["sim", "power", "tiny-w-1", "on"],
    ["etcd", "members", "-e", "tiny"],
    ["service", "-e", "tiny"],
    ["service", "kubelet", "restart", "-e", "tiny"],
    ["dmesg", "-e", "tiny"],
    ["kubeconfig", "tiny", "other-file"],
    ["reboot", "-e", "tiny", "-n", "w-1"],
    ["reboot", "-e", "tiny", "-n", "w-1", "--wait"],
  ])("%s %s … --json prints objects with a version, and nothing else on stdout", async (...line) => {
    const { stdout, stderr, exitCode } = await inProject(...line, "--json");
    expect([stderr.startsWith("Error"), exitCode], stderr).toEqual([false, 0]);
    const whole = stdout.startsWith("{\n");
    const objects = (whole ? [stdout] : stdout.trimEnd().split("\n")).map((text) => JSON.parse(text));
    expect(objects.length).toBeGreaterThan(0);
    expect(objects.filter(({ v }) => v !== 1)).toEqual([]);
  });
});
