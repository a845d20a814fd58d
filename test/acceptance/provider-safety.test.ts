// SPDX-License-Identifier: Apache-2.0
// What must never happen: secrets where they do not belong, a lost cluster after a crash, a second etcd.
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, describe, expect, test } from "vitest";
import { connect } from "../../talos/api/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import {
  applyPatches,
  encodeTalosconfig,
  generateTalosconfig,
  parsePatch,
  parseTalosconfig,
} from "../../talos/config/index.ts";
import { readSecretsFile } from "../../talos/secrets/index.ts";
import { watchArguments } from "../support/argv-watch.ts";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { findProgram } from "../support/programs.ts";
import { findTools } from "../support/terraform.ts";
import { zipEntries } from "../support/zip-entries.ts";

const tools = findTools();
const sops = findProgram("sops");
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

  test("no secret is in state, plan, output, the most talkative log, the journal or an argument", async () => {
    const wireguardKey = randomBytes(32).toString("base64");
    const marks = { registry: `canary-${randomUUID()}`, wireguard: wireguardKey, disk: `canary-${randomUUID()}` };
    // A passphrase alone, for a volume and a slot.
    const diskKey = "disk.key#EPHEMERAL/0";
    const canaries: string[] = Object.values(marks);
    const registry = (password: string) =>
      `machine: { registries: { config: { "registry.example": { auth: { username: robot, password: ${password} } } } } }\n`;
    const wireguard = `machine: { network: { interfaces: [{ interface: wg0, addresses: [10.9.0.1/24], wireguard: { privateKey: "${marks.wireguard}", peers: [] } }] } }\n`;
    // In a place that nobody takes for secret: the file as a whole is.
    const plain = `machine: { env: { PLAIN: canary-${randomUUID()} } }\n`;
    canaries.push(/canary-\S+/.exec(plain)?.[0] ?? "");
    const identity = await generateX25519Identity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(identity));
    const config = (files: readonly string[], more = "") =>
      clusterConfig({ machines: one, files: true, more }).replace(
        "role        = role",
        `role        = role\n    patch_files = ${JSON.stringify(files)}`,
      );
    const workspace = await open(config(["registry.yaml", "wg.yaml.age", diskKey]), {
      environment: { SOPS_AGE_KEY: identity },
    });
    canaries.push(identity.slice(20));
    workspace.write("registry.yaml", registry(marks.registry));
    workspace.write("wg.yaml.age", armor.encode(await encrypter.encrypt(wireguard)));
    workspace.write("plain.yaml", plain);
    workspace.write("disk.key", `${marks.disk}\n`);
    const seen: string[] = [];
    const watch = watchArguments();
    const record = async (args: string[]) => {
      const run = await workspace.run(args, { TF_LOG: "TRACE" });
      expect(run.code, run.text).toBe(0);
      seen.push(run.stdout, run.stderr);
    };
    await record(apply);
    // Files are added, taken away and changed, and something else changes too.
    const changed = `canary-${randomUUID()}`;
    canaries.push(changed);
    workspace.write("registry.yaml", registry(changed));
    workspace.write("main.tf", config(["registry.yaml", "plain.yaml", diskKey], 'additional_sans = ["api.example"]'));
    await record([...plan, "-out=saved.tfplan"]);
    expect(seen.at(-2)).toContain("patch_files: registry.yaml has changed");
    const saved = readFileSync(join(workspace.directory, "saved.tfplan"));
    for (const [, content] of zipEntries(saved)) seen.push(content.toString("latin1"));
    await record(["show", "-json", "saved.tfplan"]);
    await record(["apply", "-no-color", "saved.tfplan"]);
    await record(["show", "-json"]);
    expect(await workspace.isSettled()).toBe(true);
    expect(await workspace.isSettled("-refresh=false")).toBe(true);
    seen.push(workspace.read("terraform.tfstate"), workspace.read("terraform.tfstate.backup"));
    seen.push(workspace.read("generated/test/journal.jsonl"));

    // A file that is no patch is told by its name, not by what it holds.
    workspace.write("plain.yaml", `machine: { env: [${marks.registry}`);
    const broken = await workspace.run(plan, { TF_LOG: "TRACE" });
    expect(broken.code).toBe(1);
    expect(broken.text).toContain("Not a config patch");
    seen.push(broken.stdout, broken.stderr);

    const argv = watch.stop();
    expect(argv.some((line) => line.includes("terraform-provider-talosmith"))).toBe(true);
    seen.push(...argv);
    canaries.push(
      ...["secrets.yaml", "files/kubeconfig", "files/talosconfig"].flatMap((name) => secretsIn(workspace.read(name))),
    );
    expect(canaries.length).toBeGreaterThan(15);
    for (const canary of canaries) {
      const pem = Buffer.from(canary, "base64").toString("latin1").split("\n")[1] ?? canary;
      for (const needle of [canary, canary.slice(8, 40), pem])
        if (needle.length >= 16) expect(seen.filter((text) => text.includes(needle))).toEqual([]);
    }
    workspace.write("plain.yaml", plain);
    workspace.write("disk.key", `${marks.disk}\n`);
    // Without its file a cluster can still be taken down.
    rmSync(join(workspace.directory, "registry.yaml"));
    expect((await workspace.run(plan)).text).toContain("A patch file is missing");
    await workspace.destroy();
  });

  test("a secret in a patch is refused where it stands", async () => {
    const patch = (text: string) =>
      clusterConfig({ machines: one }).replace(
        "role        = role",
        `role        = role\n    patches     = [${JSON.stringify(text)}]`,
      );
    const workspace = await open(patch("machine: { registries: { config: { r: { auth: { password: hunter2 } } } } }"));
    const refused = await workspace.run(["validate", "-no-color"]);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("A secret in a patch");
    expect(refused.text).toContain("machine.registries.config.r.auth.password");
    expect(refused.text).toContain('machines["cp-1"].patches[0]');
    expect(refused.text).toContain("patch_files");
    expect(refused.text).not.toContain("hunter2,");
  });

  test("what the plan did not say is not thrown away", async () => {
    const machines = { ...one, "w-1": "worker" } as const;
    const workspace = await open(clusterConfig({ machines, files: true }));
    await workspace.apply();
    workspace.write("main.tf", clusterConfig({ machines, files: true, more: 'additional_sans = ["api.example"]' }));
    await workspace.ok([...plan, "-out=saved.tfplan"]);
    // Between plan and apply somebody wipes a machine.
    const worker = (await workspace.simulator().listMachines()).find(({ name }) => name === "w-1");
    await resetMachine(workspace, worker?.address ?? "");
    await expect
      .poll(async () => (await workspace.simulator().getMachine(worker?.id ?? ""))?.stage, { timeout: 60_000 })
      .toBe("maintenance");
    const refused = await workspace.run(["apply", "-no-color", "-input=false", "saved.tfplan"]);
    expect(refused.code, refused.text).toBe(1);
    expect(refused.text).toContain("Not what was planned");
    expect(refused.text).toContain("delete the Kubernetes node w-1");
    expect(refused.text).toContain("Plan again");
    // The next plan says it, and its apply may do it.
    const again = await workspace.ok(plan);
    expect(again.text).toContain("delete the Kubernetes node w-1");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
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

  test.skipIf(sops === undefined)("secrets and patches may be encrypted by the real sops", async () => {
    const identity = await generateX25519Identity();
    const environment = {
      SOPS_AGE_KEY: identity,
      SOPS_AGE_RECIPIENTS: await identityToRecipient(identity),
      PATH: `${dirname(sops ?? "")}${delimiter}${process.env.PATH}`,
    };
    const config = clusterConfig({ machines: one }).replace(
      "role        = role",
      'role        = role\n    patch_files = ["registry.sops.yaml"]',
    );
    const workspace = await open(config, { provider: 'secrets_file = "secrets.sops.yaml"', environment });
    const password = `canary-${randomUUID()}`;
    const patch = `machine: { registries: { config: { r.example: { auth: { username: u, password: ${password} } } } } }\n`;
    const types = ["--input-type", "yaml", "--output-type", "yaml"];
    workspace.write("plain.yaml", patch);
    const sealed = execFileSync(sops ?? "", ["--encrypt", ...types, "plain.yaml"], {
      cwd: workspace.directory,
      env: { ...process.env, ...environment },
      encoding: "utf8",
    });
    rmSync(join(workspace.directory, "plain.yaml"));
    expect(sealed).not.toContain(password);
    workspace.write("registry.sops.yaml", sealed);
    await workspace.apply();
    expect(workspace.read("secrets.sops.yaml")).toContain("ENC[AES256_GCM");
    expect(await workspace.isSettled()).toBe(true);
    expect(workspace.read("terraform.tfstate")).not.toContain(password);
    await workspace.destroy();
  });

  test("a running cluster, its machines, members, files and seeds are imported and are then as they should be", async () => {
    const base = clusterConfig({ machines: { ...one, "w-1": "worker" }, files: true });
    const config = `${base.replace("fingerprint = talos", "member_id   = talosmith_member.this[name].id\n    fingerprint = talos")}
      resource "talosmith_member" "this" {
        for_each   = local.machines
        name       = each.key
        cluster    = "test"
        machine_id = talosmith_simulated_machine.this[each.key].id
        address    = talosmith_simulated_machine.this[each.key].address
      }
      resource "talosmith_cloud_init" "this" {
        path           = "generated/seed.iso"
        meta_data      = yamlencode({ instance-id = "i-1", local-hostname = "cp-1" })
        network_config = yamlencode({ version = 2, ethernets = { eth0 = { dhcp4 = true } } })
      }`;
    const workspace = await open(config);
    await workspace.apply();
    const state = await workspace.resource('talosmith_simulated_machine.this["cp-1"]');
    const { id, address } = state ?? {};
    for (const [type, key, by] of [
      ["talosmith_member", '["cp-1"]', `test,cp-1,${id},${address}`],
      ["talosmith_simulated_machine", '["cp-1"]', String(id)],
      ["talosmith_cloud_init", "", "generated/seed.iso"],
    ] as const) {
      await workspace.ok(["state", "rm", `${type}.this${key}`]);
      await workspace.ok(["import", "-input=false", `${type}.this${key}`, by]);
    }
    expect(await workspace.isSettled()).toBe(true);
    // Files that somebody else renewed are as good.
    const secrets = await readSecretsFile(join(workspace.directory, "secrets.yaml"));
    const nodes = [String(address)];
    const options = { clusterName: "test", endpoints: nodes, nodes, clock: systemClock, entropy: systemEntropy };
    workspace.write("files/talosconfig", encodeTalosconfig(generateTalosconfig(secrets, options)));
    const renewed = await freshKubeconfig(workspace, String(address));
    expect(renewed).not.toBe(workspace.read("files/kubeconfig"));
    workspace.write("files/kubeconfig", renewed);
    expect(await workspace.isSettled()).toBe(true);
    workspace.write(
      "files/talosconfig",
      encodeTalosconfig(generateTalosconfig(secrets, { ...options, ttl: 86_400_000 })),
    );
    expect(await workspace.isSettled()).toBe(false);
    await workspace.apply();
    const wrong = await workspace.run(["import", "-input=false", 'talosmith_member.this["x"]', "test,x"]);
    expect(wrong.code).toBe(1);
    // What the machines can't tell, an import can't know: their first fingerprint and their memberships. Terraform
    // stores them with the first apply, which does nothing.
    await workspace.ok(["state", "rm", "talosmith_cluster.this"]);
    await workspace.ok(["import", "-input=false", "talosmith_cluster.this", String(state?.address)]);
    const noted = await workspace.ok(plan);
    expect(noted.text).toContain("Plan: 0 to add, 1 to change, 0 to destroy");
    expect(noted.text).not.toMatch(/\d\. (send|change|take|drain|upgrade)/);
    const without = config.replace(/ (fingerprint|member_id) += talos.*\n/g, "\n");
    workspace.write("main.tf", without);
    await workspace.ok(["state", "rm", "talosmith_cluster.this", "talosmith_client_files.this"]);
    await workspace.ok(["import", "-input=false", "talosmith_cluster.this", String(state?.address)]);
    await workspace.ok(["import", "-input=false", "talosmith_client_files.this", "files/kubeconfig,files/talosconfig"]);
    expect(await workspace.isSettled()).toBe(true);
    // A state that has lost its cluster, or another one that gets it too: it is not made twice, and that is said.
    workspace.write(
      "main.tf",
      config.replace('name               = "test"', '$&\n  additional_sans = ["api.example"]'),
    );
    await workspace.ok(["state", "rm", "talosmith_cluster.this"]);
    const { text } = await workspace.apply();
    expect(text).toContain("The cluster was there already");
    expect(text).toContain("already answered to these secrets");
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

async function resetMachine(workspace: ClusterWorkspace, address: string): Promise<void> {
  const machine = machineAt(workspace, address);
  await machine.reset({ graceful: false, reboot: true });
  machine.close();
}

/** What `talosmith kubeconfig` writes: a control plane issues another one to whoever asks. */
async function freshKubeconfig(workspace: ClusterWorkspace, address: string): Promise<string> {
  const machine = machineAt(workspace, address);
  const kubeconfig = await machine.kubeconfig();
  machine.close();
  return kubeconfig;
}

function machineAt(workspace: ClusterWorkspace, address: string) {
  const { contexts, context } = parseTalosconfig(workspace.read("files/talosconfig"), "talosconfig");
  const credentials = contexts.get(context)?.credentials;
  if (credentials === undefined) throw new Error("the talosconfig has no credentials");
  return connect(address, { kind: "mtls", credentials });
}
