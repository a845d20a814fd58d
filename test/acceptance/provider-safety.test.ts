// SPDX-License-Identifier: Apache-2.0
// What must never happen: secrets where they do not belong, a lost cluster after a crash, a second etcd.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, describe, expect, test } from "vitest";
import { connect } from "../../talos/api/index.ts";
import { applyPatches, parsePatch, parseTalosconfig } from "../../talos/config/index.ts";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { findTools, finish } from "../support/terraform.ts";
import { zipEntries } from "../support/zip-entries.ts";

const tools = findTools();
const workspaces: ClusterWorkspace[] = [];
afterAll(() => Promise.all(workspaces.map((workspace) => workspace.dispose())));

test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const plan = ["plan", "-no-color", "-input=false"];
const apply = ["apply", "-auto-approve", "-no-color", "-input=false"];
const one = { "cp-1": "controlplane" } as const;

/** Every long scalar of a YAML text that is not a certificate: keys, tokens, secrets. */
function secretsIn(yaml: string): string[] {
  return [
    ...yaml.matchAll(
      /^\s*(?:- )?(key|client-key-data|token|secret|bootstraptoken|secretboxencryptionsecret):\s*(\S{16,})\s*$/gim,
    ),
  ].map(([, , value]) => value ?? "");
}

describe.each(everything ? tools : tools.slice(0, 1))("safety under $name", (tool) => {
  const open = async (
    ...args: Parameters<typeof ClusterWorkspace.open> extends [unknown, ...infer Rest] ? Rest : never
  ) => {
    const workspace = await ClusterWorkspace.open(tool, ...args);
    workspaces.push(workspace);
    return workspace;
  };

  test("no secret is in state, plan, output or the most talkative log", async () => {
    const workspace = await open(clusterConfig({ machines: one, files: true }));
    const seen: string[] = [];
    const record = async (args: string[]) => {
      const run = await workspace.run(args, { TF_LOG: "TRACE" });
      expect(run.code, run.text).toBe(0);
      seen.push(run.stdout, run.stderr);
    };
    await record(apply);
    const patch = 'additional_sans = ["api.example"]';
    workspace.write("main.tf", clusterConfig({ machines: one, files: true, more: patch }));
    await record([...plan, "-out=saved.tfplan"]);
    const saved = readFileSync(join(workspace.directory, "saved.tfplan"));
    for (const [, content] of zipEntries(saved)) seen.push(content.toString("latin1"));
    await record(["show", "-json", "saved.tfplan"]);
    await record(["apply", "-no-color", "saved.tfplan"]);
    await record(["show", "-json"]);
    seen.push(workspace.read("terraform.tfstate"), workspace.read("terraform.tfstate.backup"));

    const canaries = ["secrets.yaml", "files/kubeconfig", "files/talosconfig"].flatMap((name) =>
      secretsIn(workspace.read(name)),
    );
    expect(canaries.length).toBeGreaterThan(10);
    for (const canary of canaries) {
      const pem = Buffer.from(canary, "base64").toString("latin1").split("\n")[1] ?? canary;
      for (const needle of [canary, canary.slice(8, 40), pem])
        if (needle.length >= 16) expect(seen.filter((text) => text.includes(needle))).toEqual([]);
    }
    await workspace.destroy();
  });

  test("secrets may be encrypted for age, come from the environment, and must not be made on a build machine", async () => {
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const provider = `secrets_file = "secrets.age"\n  age_recipients = ["${recipient}"]`;
    const workspace = await open(clusterConfig({ machines: one }), {
      provider,
      environment: { SOPS_AGE_KEY: identity },
    });
    await workspace.apply();
    expect(workspace.read("secrets.age")).toContain("BEGIN AGE ENCRYPTED FILE");
    expect(await workspace.isSettled()).toBe(true);
    const blind = await workspace.run(plan, { SOPS_AGE_KEY: "" });
    expect(blind.text).toContain("no age identity");
    await workspace.destroy();

    const external = `
      resource "talosmith_cluster" "this" {
        name               = "far"
        endpoint           = "https://10.255.255.1:6443"
        talos_version      = "v1.13.9"
        kubernetes_version = "1.36.3"
        trust_on_first_use = true
        machines           = { cp-1 = { role = "controlplane", address = "10.255.255.1" } }
      }`;
    const machine = await open(external, { environment: { CI: "1" } });
    const refused = await machine.run(apply);
    expect(refused.text).toContain("Secrets would be lost with this machine");
    expect(existsSync(join(machine.directory, "secrets.yaml"))).toBe(false);
  });

  test.skipIf(!everything)("a running cluster is imported and is then as it should be", async () => {
    const config = clusterConfig({ machines: { ...one, "w-1": "worker" }, files: true });
    const workspace = await open(config);
    await workspace.apply();
    const state = await workspace.resource('talosmith_simulated_machine.this["cp-1"]');
    const without = config.replace(/fingerprint = talos.*\n/, "\n");
    workspace.write("main.tf", without);
    await workspace.ok(["state", "rm", "talosmith_cluster.this", "talosmith_client_files.this"]);
    await workspace.ok(["import", "-input=false", "talosmith_cluster.this", String(state?.address)]);
    await workspace.ok(["import", "-input=false", "talosmith_client_files.this", "files/kubeconfig,files/talosconfig"]);
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });

  test("killing the provider at any moment of a create leaves a cluster that the next apply completes", async () => {
    const config = clusterConfig({ machines: { ...one, "cp-2": "controlplane", "cp-3": "controlplane" } });
    const workspace = await open(config);
    await workspace.ok([...apply, "-target=talosmith_simulated_machine.this"]);
    for (const moment of [300, 900, 1800]) {
      const child = workspace.start(apply);
      const done = finish(child);
      await new Promise<void>((resolve) => {
        child.stdout.on("data", (part) => String(part).includes("Creating...") && resolve());
        child.on("close", () => resolve());
      });
      await sleep(moment);
      for (const pid of childrenOf(child.pid ?? 0)) process.kill(pid, "SIGKILL");
      await done;
    }
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    const { stdout } = await workspace.ok(["state", "list"]);
    expect(stdout).toContain("talosmith_cluster.this");
    await workspace.destroy();
  });

  test.skipIf(!everything)("of two runs at once one waits for the other", async () => {
    const workspace = await open(clusterConfig({ machines: one }));
    await workspace.apply();
    workspace.write("main.tf", clusterConfig({ machines: one, more: 'additional_sans = ["api.example"]' }));
    const both = await Promise.all(
      [1, 2].map(() => workspace.run([...apply, "-lock=false"], { TF_LOG_PROVIDER: "INFO" })),
    );
    for (const { code, text } of both) expect(code, text).toBe(0);
    expect(both.some(({ stderr }) => stderr.includes("waiting: another run works on this cluster"))).toBe(true);
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });

  test.skipIf(!everything)(
    "a cluster whose create failed can be destroyed through its members, the last one included",
    async () => {
      const machines = { "cp-1": "controlplane", "w-1": "worker" } as const;
      const config = clusterConfig({ machines, more: 'timeouts = { create = "6s" }' }).replace(
        "fingerprint = talos",
        "member_id   = talosmith_member.this[name].id\n    fingerprint = talos",
      );
      const workspace = await open(`${config}
      resource "talosmith_member" "this" {
        for_each   = local.machines
        name       = each.key
        cluster    = "test"
        machine_id = talosmith_simulated_machine.this[each.key].id
        address    = talosmith_simulated_machine.this[each.key].address
      }
    `);
      await workspace.ok([...apply, "-target=talosmith_member.this"]);
      const simulator = workspace.simulator();
      const worker = (await simulator.listMachines()).find(({ name }) => name === "w-1");
      await simulator.setPower(worker?.id ?? "", false);
      const failed = await workspace.run(apply);
      expect(failed.text).toContain("raise timeouts.create");
      expect(existsSync(join(workspace.directory, "generated/.creating/test"))).toBe(true);
      expect(await workspace.resource("talosmith_cluster.this")).toBeUndefined();
      await workspace.destroy();
      expect(existsSync(workspace.simulatorDirectory)).toBe(false);
      expect(existsSync(join(workspace.directory, "generated/.creating/test"))).toBe(false);
    },
  );

  test("a config that was edited behind our back is shown and put back", async () => {
    const workspace = await open(clusterConfig({ machines: one, files: true }));
    await workspace.apply();
    const { contexts, context } = parseTalosconfig(workspace.read("files/talosconfig"), "talosconfig");
    const access = contexts.get(context);
    if (access?.credentials === undefined) throw new Error("the talosconfig has no credentials");
    const machine = connect(access.endpoints[0] ?? "", { kind: "mtls", credentials: access.credentials });
    const config = (await machine.machineConfig()) ?? "";
    const edited = applyPatches(config, [parsePatch("machine: {sysctls: {vm.swappiness: '1'}}", "edit")], "config");
    await machine.applyConfiguration(edited, { mode: "no-reboot" });
    const planned = await workspace.run([...plan, "-detailed-exitcode"]);
    expect(planned.code, planned.text).toBe(2);
    expect(planned.text).toContain("1. change the config of cp-1 without a reboot: machine.sysctls");
    await workspace.apply();
    expect(await machine.machineConfig()).not.toContain("swappiness");
    machine.close();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });

  test.skipIf(!everything)("what was reset behind our back is planned and mended", async () => {
    const workspace = await open(clusterConfig({ machines: { ...one, "w-1": "worker" } }));
    await workspace.apply();
    const simulator = workspace.simulator();
    const worker = (await simulator.listMachines()).find(({ name }) => name === "w-1");
    expect(worker).toBeDefined();
    await simulator.deleteMachine(worker?.id ?? "");
    const planned = await workspace.run([...plan, "-detailed-exitcode"]);
    expect(planned.code, planned.text).toBe(2);
    expect(planned.text).toContain('talosmith_simulated_machine.this["w-1"] will be created');
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});

/** Direct children of a process. */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(parent);
      } catch {
        return false;
      }
    })
    .map(Number);
}
