// SPDX-License-Identifier: Apache-2.0
// Secrets are where they belong and nowhere else, however they are kept.
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { expect, test } from "vitest";
import { watchArguments } from "../support/argv-watch.ts";
import { clusterConfig } from "../support/cluster-workspace.ts";
import { findProgram } from "../support/programs.ts";
import { apply, plan, underTools } from "../support/under-tools.ts";
import { zipEntries } from "../support/zip-entries.ts";

const sops = findProgram("sops");

const one = { "cp-1": "controlplane" } as const;

/** Every long scalar of a YAML text that is not a certificate: keys, tokens, secrets. */
function secretsIn(yaml: string): string[] {
  return [
    ...yaml.matchAll(
      /^\s*(?:- )?(key|client-key-data|token|secret|bootstraptoken|secretboxencryptionsecret):\s*(\S{16,})\s*$/gim,
    ),
  ].map(([, , value]) => value ?? "");
}

underTools("secrets", ({ open }) => {
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
    expect(refused.text).toContain("secrets would be lost with this machine");
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
});
