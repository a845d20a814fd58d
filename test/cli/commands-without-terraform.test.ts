// SPDX-License-Identifier: Apache-2.0
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerConfig } from "../../cli/commands/config.ts";
import { registerHealth, registerStatus } from "../../cli/commands/inspect.ts";
import { registerDestroy, registerPlan, registerUnlock, registerUp } from "../../cli/commands/lifecycle.ts";
import { registerMachine } from "../../cli/commands/machine.ts";
import { registerClientFiles } from "../../cli/commands/project.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { lockFileFor, withLock } from "../../engine/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { contextOf, parseTalosconfig } from "../../talos/config/index.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";
import { destroyProgress, expectedDestroy } from "../support/destroy-progress.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";

const registrations = [
  registerUp,
  registerDestroy,
  registerPlan,
  registerStatus,
  registerHealth,
  registerUnlock,
  registerClientFiles,
  registerConfig,
  registerMachine,
  registerSim,
];

/** The commands without Terraform on one control plane and one worker of the simulator, as a user would type them. */
describe("the commands without Terraform", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-direct-"));
  const talosconfig = join(root, "generated/tiny/talosconfig");
  const addresses = { cp: "", worker: "" };

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env: { TALOSCONFIG: talosconfig }, clock: systemClock });
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
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    rmSync(root, { recursive: true, force: true });
  });

  test("before a deploy, status says that there is nothing yet and how to change that", async () => {
    const { stderr, exitCode } = await talosmith("status", "tiny");
    expect(stderr).toContain("tiny is not deployed");
    expect(stderr).toContain("talosmith deploy tiny");
    expect(exitCode).toBe(1);
    expect(existsSync(join(root, "generated"))).toBe(false);
  });

  test("up makes no machine while another run works on the same environment", async () => {
    const context = testContext({ cwd: root, clock: systemClock });
    let up: Promise<void> | undefined;
    await withLock(lockFileFor(join(realpathSync(root), "tiny")), { what: "another deploy" }, async () => {
      up = runProgram(createProgram(context, registrations), ["up", "tiny"], context);
      await expect.poll(() => context.written.stderr, { timeout: 60_000 }).toContain("behind: another deploy");
      expect(await projectSimulator(root).listMachines()).toEqual([]);
    });
    await up;
    expect(context.written.exitCode).toBe(0);
    expect(await projectSimulator(root).listMachines()).toHaveLength(2);
    expect((await talosmith("down", "tiny", "--yes")).exitCode).toBe(0);
    rmSync(join(root, "generated"), { recursive: true });
    rmSync(join(root, "secrets"), { recursive: true });
  });

  test("up --json tells each step as a versioned line and leaves the client files", async () => {
    // A run that was killed after its first machine, before any secrets were made, is gone on with.
    await projectSimulator(root).createMachine({ name: "tiny-cp-1", cluster: "tiny" });
    const { stdout, exitCode } = await talosmith("up", "tiny", "--json");
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.every(({ v, at }) => v === 1 && !Number.isNaN(Date.parse(at)))).toBe(true);
    expect(lines.filter(({ type }) => type === "step-finished").map(({ step }) => step)).toContain(
      "bootstrap-etcd/tiny-cp-1",
    );
    // What is written after the cluster is healthy gives access to it.
    expect(lines.slice(-2)).toMatchObject([{ type: "healthy" }, { type: "step-finished", step: "client-files" }]);
    expect(exitCode).toBe(0);
    expect(statSync(talosconfig).mode & 0o777).toBe(0o600);
  });

  test("status shows every machine, as a table and as JSON", async () => {
    const asJson = await talosmith("status", "tiny", "--json");
    const { machines, managedBy } = JSON.parse(asJson.stdout);
    expect([managedBy, asJson.stderr]).toEqual(["talosmith", ""]);
    expect(machines).toMatchObject([
      { name: "tiny-cp-1", stage: "running", ready: true, etcd: "leader" },
      { name: "tiny-w-1", stage: "running", ready: true, etcd: "-" },
    ]);
    [addresses.cp, addresses.worker] = machines.map(({ address }: { address: string }) => address);
    const { stdout, stderr } = await talosmith("status", "tiny");
    expect(stdout).toMatch(/^NAME +ROLE +ADDRESS/);
    expect(stderr).toMatch(/^tiny is managed without Terraform\.\n/);
  });

  test("plan goes on with what up has made, even where there is a terraform that knows nothing of it", async () => {
    const bin = join(root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "terraform"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const context = testContext({ cwd: root, env: { PATH: bin }, clock: systemClock });
    await runProgram(createProgram(context, registrations), ["plan", "tiny"], context);
    expect(context.written).toMatchObject({ stdout: "Nothing to change.\n", exitCode: 0 });
  });

  test.each([
    ["status", "put its secrets file back"],
    ["up", "tiny-cp-1, tiny-w-1: restore the file from your backup"],
    ["plan", "tiny-cp-1, tiny-w-1: restore the file from your backup"],
  ])("%s of a cluster whose secrets are lost says so, and makes no others", async (command, hint) => {
    const file = join(root, "secrets/tiny.yaml");
    renameSync(file, `${file}.away`);
    try {
      const { stderr, exitCode } = await talosmith(command, "tiny");
      expect(stderr).toContain("tiny has machines, but no secrets");
      expect(stderr).toContain(hint);
      expect(exitCode).toBe(1);
      expect(existsSync(file)).toBe(false);
    } finally {
      renameSync(`${file}.away`, file);
    }
  });

  test("a dead lock over an empty state is not cleared while there are machines with a config", async () => {
    mkdirSync(join(root, "state"), { recursive: true });
    try {
      writeFileSync(join(root, "state/tiny.tfstate"), "");
      const fields = { Operation: "OperationTypeApply", Who: `ann@${hostname()}`, Created: "2026-11-17T04:00:06.7Z" };
      writeFileSync(join(root, "state/.tiny.tfstate.lock.info"), JSON.stringify(fields));
      for (const command of ["unlock", "destroy", "up"])
        expect(await talosmith(command, "tiny")).toMatchObject({
          stderr: expect.stringMatching(/tiny\.tfstate is empty: ann@\S+ (was|is) applying/),
          exitCode: 1,
        });
    } finally {
      for (const file of ["tiny.tfstate", ".tiny.tfstate.lock.info"]) rmSync(join(root, "state", file));
    }
  });

  test("unlock says when nobody holds the lock", async () => {
    const { stderr, exitCode } = await talosmith("unlock", "tiny");
    expect(stderr).toBe("Nobody holds it.\n");
    expect(exitCode).toBe(0);
    const asJson = await talosmith("unlock", "tiny", "--json");
    expect([JSON.parse(asJson.stdout), asJson.stderr]).toEqual([{ v: 1, unlocked: false }, ""]);
  });

  test("health makes talosctl's checks in its words", async () => {
    const { stderr, exitCode } = await talosmith("health", "tiny", "--wait-timeout", "30s");
    expect(stderr).toContain("waiting for etcd to be healthy: OK\n");
    expect(stderr).toMatch(/waiting for all k8s nodes to report schedulable: OK\ntiny is healthy\.\n$/);
    expect(exitCode).toBe(0);
  });

  test("health leaves Kubernetes out where it is said to be unable to run", async () => {
    const { stderr, exitCode } = await talosmith("health", "tiny", "--no-kubernetes", "--wait-timeout", "30s");
    expect(stderr).toContain("waiting for etcd to be healthy: OK\n");
    expect(stderr).toContain("waiting for all k8s nodes to report ready: SKIP\n");
    expect(exitCode).toBe(0);
  });

  test("get resolves an alias, asks through a control plane, and prints table and YAML", async () => {
    const table = await talosmith("get", "machinestatus", "-n", `${addresses.cp},${addresses.worker}`);
    expect(table.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["NODE", "NAMESPACE", "TYPE", "ID", "VERSION", "STAGE", "READY"],
      [addresses.cp, "runtime", "MachineStatus", "machine", expect.any(String), "running", "true"],
      [addresses.worker, "runtime", "MachineStatus", "machine", expect.any(String), "running", "true"],
      [""],
    ]);
    const yaml = await talosmith(
      "get",
      "MachineStatuses.runtime.talos.dev",
      "machine",
      "-n",
      addresses.worker,
      "-o",
      "yaml",
    );
    expect(yaml.stdout).toContain("spec:\n    stage: running\n");
    expect((await talosmith("get", "nosuchthing")).stderr).toContain('resource "nosuchthing" is not registered');
  });

  test("get --watch shows the changes of all machines that it is for, until it is stopped", async () => {
    const stop = new AbortController();
    const context = testContext({ cwd: root, env: { TALOSCONFIG: talosconfig }, signal: stop.signal });
    const args = ["get", "machinestatus", "--watch", "-n", `${addresses.cp},${addresses.worker}`];
    const watching = runProgram(createProgram(context, registrations), args, context);
    for (const address of Object.values(addresses))
      await expect
        .poll(() => context.written.stdout, { timeout: 15_000 })
        .toMatch(new RegExp(`^created +${address} `, "m"));
    stop.abort();
    await watching;
    expect(context.written.exitCode).toBe(0);
  });

  test("a second bootstrap is refused in Talos's words, and one for two machines in ours", async () => {
    const again = await talosmith("bootstrap", "-n", addresses.cp);
    expect(again.stderr).toContain("etcd data directory is not empty");
    expect(again.exitCode).toBe(1);
    const two = await talosmith("bootstrap", "-n", `${addresses.cp},${addresses.worker}`);
    expect(two.stderr).toContain("bootstrap is for one machine, not for 2");
  });

  test("apply --dry-run tells what would change and changes nothing", async () => {
    const config = await talosmith("get", "mc", "v1alpha1", "-n", addresses.worker, "-o", "json");
    const path = join(root, "worker.yaml");
    writeFileSync(path, JSON.parse(config.stdout).spec);
    const { stderr, exitCode } = await talosmith("apply", "-n", addresses.worker, "-f", path, "--dry-run");
    expect(stderr).toContain("Dry run summary");
    expect(stderr).toContain("No changes.");
    expect(exitCode).toBe(0);
  });

  test("config new gets a certificate from a control plane, for the roles and the time asked, and writes it once", async () => {
    const args = ["config", "new", "reader", "--roles", "os:reader", "--crt-ttl", "24h"];
    expect((await talosmith(...args, "-n", `${addresses.cp},${addresses.worker}`)).stderr).toContain(
      "not supported with multiple nodes",
    );
    expect((await talosmith(...args, "-n", addresses.cp)).exitCode).toBe(0);
    const info = JSON.parse((await talosmith("config", "info", "--json", "--talosconfig", "reader")).stdout);
    expect(info).toMatchObject({ endpoints: [addresses.cp], roles: ["os:reader"], certTTL: "23 hours from now" });
    expect((await talosmith(...args, "-n", addresses.cp)).stderr).toContain("already exists");
    const version = await talosmith("get", "machinestatus", "--talosconfig", join(root, "reader"), "-n", addresses.cp);
    expect(version.exitCode).toBe(0);
  });

  test("kubeconfig never replaces a file unasked, and prints it where asked", async () => {
    const before = readFileSync(join(root, "generated/tiny/kubeconfig"), "utf8");
    const refused = await talosmith("kubeconfig", "tiny");
    expect(refused.stderr).toContain("is there already");
    expect(refused.exitCode).toBe(1);
    expect(readFileSync(join(root, "generated/tiny/kubeconfig"), "utf8")).toBe(before);
    expect((await talosmith("kubeconfig", "tiny", "-")).stdout).toContain("kind: Config");
  });

  test("kubeconfig --merge puts the cluster into the user's kubeconfig and makes it the current one", async () => {
    const context = testContext({ cwd: root, env: { HOME: join(root, "home") }, clock: systemClock });
    await runProgram(createProgram(context, registrations), ["kubeconfig", "tiny", "--merge", "--json"], context);
    const path = join(root, "home/.kube/config");
    expect(JSON.parse(context.written.stdout)).toEqual({ v: 1, path, context: "admin@tiny" });
    expect(JSON.parse(await kubernetesGet(readFileSync(path, "utf8"), "/api/v1/nodes")).items).toHaveLength(2);
    expect((await talosmith("kubeconfig", "tiny", "-", "--merge")).stderr).toContain("exclude each other");
  });

  test("a machine without power is unreachable in status and plan, and fails health, by name", async () => {
    await talosmith("sim", "power", "tiny-w-1", "off");
    const { machines } = JSON.parse((await talosmith("status", "tiny", "--json")).stdout);
    expect(machines[1]).toMatchObject({ name: "tiny-w-1", stage: "unreachable", ready: false });
    const planned = await talosmith("plan", "tiny");
    expect(planned.stderr).toMatch(/^Warning: Could not observe tiny-w-1: .*refused/m);
    expect(planned.stdout).toBe("Nothing to change on the machines that answer.\n");
    const { stderr, exitCode } = await talosmith("health", "tiny", "--wait-timeout", "0");
    expect(stderr).toContain("tiny-w-1");
    expect(exitCode).toBe(1);
    await talosmith("sim", "power", "tiny-w-1", "on");
    const ready = async () => JSON.parse((await talosmith("status", "tiny", "--json")).stdout).machines[1].ready;
    await expect.poll(ready, { timeout: 15_000 }).toBe(true);
  });

  test("no command passes on what a machine says to the terminal: no escape, no line of its own", async () => {
    const message = "\u001b[31mred\u202e\u009b2J\u0007\r\n  ✓ all is well";
    const simulator = projectSimulator(root);
    const machines = await simulator.listMachines();
    const methods = ["Version", "Get", "List", "ServiceList", "EtcdStatus", "EtcdMemberList", "ApplyConfiguration"];
    const fail = (method: string) => ({ kind: "fail" as const, method, code: "Internal", message });
    for (const { id } of machines) await simulator.setFaults(id, methods.map(fail));
    const worker = ["--talosconfig", talosconfig, "-n", addresses.worker, "-e", addresses.worker];
    const commands = [
      ["status", "tiny"],
      ["status", "tiny", "--json"],
      ["plan", "tiny"],
      ["up", "tiny"],
      ["up", "tiny", "--json"],
      ["health", "tiny", "--wait-timeout", "0"],
      ["health", "tiny", "--wait-timeout", "0", "--json"],
      ["get", "machinestatus", ...worker],
      ["apply", "--dry-run", "-f", join(root, "cdktf.json"), ...worker],
    ];
    const said: string[] = [];
    for (const command of commands) {
      // A deploy waits for machines that may get well.
      const [deploys, signal] = [command[0] === "up", AbortSignal.timeout(400)];
      const context = testContext({ cwd: root, clock: systemClock, ...(deploys ? { signal } : {}) });
      await runProgram(createProgram(context, registrations), command, context);
      const { stdout, stderr } = context.written;
      said.push(`${command.join(" ")}\n${stdout}${stderr}`);
    }
    for (const { id } of machines) await simulator.setFaults(id, []);
    expect(said.filter((text) => text.includes("red<U+202E>")).length).toBeGreaterThan(4);
    expect(said.filter((text) => /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u.test(text))).toEqual([]);
    const errors = /^Error: /m;
    expect(said.filter((text) => /^\s*✓ all is well/m.test(text) && !errors.test(text))).toEqual([]);
    const ready = async () => JSON.parse((await talosmith("status", "tiny", "--json")).stdout).machines[1].ready;
    await expect.poll(ready, { timeout: 15_000 }).toBe(true);
  });

  test("an unknown fault and an unknown machine are refused", async () => {
    expect((await talosmith("sim", "fault", "tiny-w-9", "refuse")).stderr).toContain("There are: tiny-cp-1, tiny-w-1.");
    expect((await talosmith("sim", "fault", "tiny-w-1", "blah")).exitCode).toBe(1);
  });

  test("a machine that is still to be made hides neither the cluster nor what leaves it", async () => {
    const file = join(root, "environments/tiny.yaml");
    const before = readFileSync(file, "utf8");
    writeFileSync(file, before.replace("[{ count: 1 }]", "[{ name: fresh, count: 1 }]"));
    try {
      const { machines, pending } = JSON.parse((await talosmith("status", "tiny", "--json")).stdout);
      expect(machines).toMatchObject([{ name: "tiny-cp-1", ready: true }]);
      expect(pending).toEqual(expect.arrayContaining(["create/tiny-fresh-1", "reset/tiny-w-1"]));
      const { stdout } = await talosmith("plan", "tiny");
      expect(stdout).toMatch(/^ {2}create machine: tiny-fresh-1$/m);
      expect(stdout).toMatch(/^ {2}destroy machine: tiny-w-1$/m);
      expect(stdout).toMatch(/^ {2}Remove machines\n {4}tiny-w-1: drain, remove from the cluster and wipe its disk/m);
    } finally {
      writeFileSync(file, before);
    }
  });

  test("a machine taken out of the file is planned to leave, leaves, and is removed", async () => {
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\n",
    );
    const steps = JSON.parse((await talosmith("status", "tiny", "--json")).stdout).pending;
    expect(steps).toEqual(expect.arrayContaining(["reset/tiny-w-1", "delete-node/tiny-w-1"]));
    const nodesInTalosconfig = () => contextOf(parseTalosconfig(readFileSync(talosconfig, "utf8"), "x"), "tiny").nodes;
    expect(nodesInTalosconfig()).toEqual([addresses.cp]);
    expect((await talosmith("up", "tiny")).stdout).toContain("tiny is up: 1 control plane, 0 workers");
    expect(JSON.parse((await talosmith("sim", "list", "--json")).stdout).machines).toMatchObject([
      { name: "tiny-cp-1" },
    ]);
    expect(nodesInTalosconfig()).toEqual([addresses.cp]);
    const kubeconfig = readFileSync(join(root, "generated/tiny/kubeconfig"), "utf8");
    const nodes = JSON.parse(await kubernetesGet(kubeconfig, "/api/v1/nodes")).items;
    expect(nodes.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(["tiny-cp-1"]);
  });

  test("destroy throws simulated machines away even when their secrets are lost, and says so", async () => {
    rmSync(join(root, "secrets/tiny.yaml"));
    const { stderr, exitCode } = await talosmith("destroy", "tiny");
    expect(stderr).toContain("It had no secrets");
    expect(exitCode).toBe(0);
    expect(existsSync(talosconfig)).toBe(false);
    await talosmith("up", "tiny");
  });

  test("down leaves no machine and no client file", async () => {
    const { stderr, exitCode } = await talosmith("down", "tiny");
    expect(stderr).toMatch(
      /tiny is destroyed\.\nKept: \S+ \(its secrets, which the next deploy takes again\), generated\/tiny\/journal\.jsonl \(/,
    );
    expect(destroyProgress(stderr)).toEqual(expectedDestroy(1));
    expect(exitCode).toBe(0);
    await expect.poll(() => existsSync(join(root, "generated/.simulator")), { timeout: 5000 }).toBe(false);
    expect(existsSync(talosconfig)).toBe(false);
  });

  test.each([
    ["with the secrets of the last cluster", () => {}],
    ["without secrets", () => rmSync(join(root, "secrets/tiny.yaml"))],
  ])("down again, %s, says that there is nothing", async (_, arrange) => {
    arrange();
    const { stderr, exitCode } = await talosmith("down", "tiny");
    expect(stderr).toContain("tiny is not deployed: nothing to destroy.\n");
    expect(stderr).not.toContain("destroyed");
    expect(exitCode).toBe(0);
    const { stdout } = await talosmith("down", "tiny", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ v: 1, type: "not-deployed", at: expect.any(String) });
  });
});
