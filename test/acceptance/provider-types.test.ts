// SPDX-License-Identifier: Apache-2.0
// The other types under the real tools: seeds, secrets in the state, memberships, data, ephemeral values, functions.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { apply, plan, underTools } from "../support/under-tools.ts";

underTools("types", ({ open }) => {
  const seed = (address: string) => `
    resource "talosmith_cloud_init" "this" {
      path           = "generated/seed.iso"
      meta_data      = yamlencode({ instance-id = "i-1", local-hostname = "cp-1" })
      network_config = yamlencode({
        version   = 2
        ethernets = { eth0 = { match = { macaddress = "52:54:00:c1:00:01" }, addresses = ["${address}"] } }
      })
    }
    output "hash" { value = talosmith_cloud_init.this.hash }
  `;

  test("a seed follows from its inputs, is known while planning and comes back by itself", async () => {
    const workspace = await open(seed("10.0.0.70/24"));
    const planned = await workspace.ok([...plan, "-out=saved.tfplan"]);
    const hash = /hash\s+=\s+"([0-9a-f]{64})"/.exec(planned.stdout)?.[1];
    expect(hash).toBeDefined();
    await workspace.apply();
    const file = join(workspace.directory, "generated/seed.iso");
    const image = readFileSync(file);
    expect(image.includes("local-hostname")).toBe(true);
    expect(await workspace.isSettled("-refresh=false")).toBe(true);

    rmSync(file);
    expect(await workspace.isSettled()).toBe(true);
    expect(readFileSync(file).equals(image)).toBe(true);

    workspace.write("main.tf", seed("10.0.0.71/24"));
    expect((await workspace.ok(plan)).text).toContain("updated in-place");
    await workspace.apply();
    expect(readFileSync(file).equals(image)).toBe(false);

    workspace.write("main.tf", seed("10.0.0.300/24"));
    expect((await workspace.run(plan)).text).toContain("network_config");
    workspace.write("main.tf", seed("10.0.0.71/24"));
    await workspace.destroy();
    expect(existsSync(file)).toBe(false);
  });

  test("a seed with a config holds secrets, and the state and the plan do not", async () => {
    const withConfig = (version: string) =>
      seed("10.0.0.70/24").replace(
        /network_config = /,
        `machine_config = {
        name = "test", endpoint = "https://10.0.0.70:6443", role = "controlplane", hostname = "cp-1"
        talos_version = "v1.13.9", kubernetes_version = "${version}"
      }
      network_config = `,
      );
    const workspace = await open(withConfig("1.36.2"));
    await workspace.apply();
    const file = join(workspace.directory, "generated/seed.iso");
    const image = readFileSync(file);
    const key = /key: (LS0t\w{40})/.exec(image.toString("latin1"))?.[1];
    expect(key).toBeDefined();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await workspace.isSettled()).toBe(true);
    rmSync(file);
    expect(await workspace.isSettled()).toBe(true);
    expect(readFileSync(file).equals(image)).toBe(true);

    workspace.write("main.tf", withConfig("1.36.3"));
    const saved = await workspace.ok([...plan, "-out=saved.tfplan"]);
    const shown = await workspace.ok(["show", "-json", "saved.tfplan"]);
    for (const text of [saved.text, shown.text, readFileSync(join(workspace.directory, "terraform.tfstate"), "utf8")])
      expect(text).not.toContain(key);
  });

  test("functions and data that need no machine", async () => {
    const workspace = await open(`
      output "address" { value = provider::talosmith::node_address("10.0.0.0/24", 70, 1) }
      output "mac"     { value = provider::talosmith::node_mac("worker", 1) }
      output "patched" { value = yamldecode(provider::talosmith::patch("machine:\\n  type: worker\\n", "machine: {nodeLabels: {a: b}}")).machine.nodeLabels.a }
      data "talosmith_schematic" "this" {
        talos_version = "v1.13.9"
        platform      = "nocloud"
      }
      output "schematic" { value = data.talosmith_schematic.this.installer_image }
    `);
    await workspace.apply();
    const { stdout } = await workspace.ok(["output", "-json"]);
    const outputs = JSON.parse(stdout);
    expect(outputs).toMatchObject({
      address: { value: "10.0.0.71" },
      mac: { value: "52:54:00:c2:00:02" },
      patched: { value: "b" },
    });
    expect(outputs.schematic.value).toMatch(/^factory\.talos\.dev\/nocloud-installer\/[0-9a-f]{64}:v1\.13\.9$/);
    for (const [call, fault] of [
      ['node_address("10.0.0.0/24", 250, 9)', "outside of the hosts"],
      ['node_mac("boss", 1)', "controlplane"],
      ['patch("machine: {type: worker}", "machine: [1]")', "patch"],
    ] as const) {
      workspace.write("main.tf", `output "bad" { value = provider::talosmith::${call} }`);
      const { code, text } = await workspace.run(plan);
      expect(code, text).toBe(1);
      expect(text).toContain(fault);
    }
  });

  test.skipIf(!everything)(
    "secrets may live in the state and feed the cluster through a second provider block",
    async () => {
      const machines = { "cp-1": "controlplane" } as const;
      const config = clusterConfig({ machines, more: "provider = talosmith.cluster" });
      const body = `
      provider "talosmith" {
        alias   = "cluster"
        secrets = talosmith_secrets.this.bundle
      }
      resource "talosmith_secrets" "this" {}
      data "talosmith_machine_config" "worker" {
        provider           = talosmith.cluster
        name               = "test"
        endpoint           = "https://127.0.0.1:6443"
        talos_version      = "v1.13.9"
        kubernetes_version = "1.36.3"
        role               = "worker"
        depends_on         = [talosmith_secrets.this]
      }
      output "redacted" { value = data.talosmith_machine_config.worker.redacted }
    `;
      const workspace = await open(`${body}${config}`, { provider: "" });
      await workspace.apply();
      expect(await workspace.isSettled()).toBe(true);
      const state = await workspace.resource("talosmith_secrets.this");
      const bundle = String(state?.bundle);
      expect(bundle).toContain("trustdinfo");
      const { stdout } = await workspace.ok(["output", "-raw", "redacted"]);
      expect(stdout).toContain("type: worker");
      const token = /token: (\S+)/.exec(bundle)?.[1] ?? "";
      expect(token).not.toBe("");
      expect(stdout).not.toContain(token);

      // The same bundle from a file.
      writeFileSync(join(workspace.directory, "kept.yaml"), bundle);
      await workspace.ok(["state", "rm", "talosmith_secrets.this"]);
      await workspace.ok(["import", "-input=false", "talosmith_secrets.this", "kept.yaml"]);
      expect(await workspace.isSettled()).toBe(true);
      await workspace.destroy();
    },
  );

  const members = (machines: Readonly<Record<string, "controlplane" | "worker">>, generation = "") => {
    const base = clusterConfig({ machines, members: true });
    const id = "talosmith_simulated_machine.this[each.key].id";
    return `${base.replace(`machine_id = ${id}`, `machine_id = "\${${id}}${generation}"`)}
      data "talosmith_health" "this" {
        endpoint   = talosmith_cluster.this.endpoint
        machines   = { for name, machine in talosmith_cluster.this.machines : name => { role = machine.role, address = machine.address } }
        depends_on = [talosmith_cluster.this]
      }
      output "healthy"  { value = data.talosmith_health.this.healthy }
      output "problems" { value = data.talosmith_health.this.problems }
      ephemeral "talosmith_kubeconfig" "this" {
        endpoints  = [talosmith_simulated_machine.this["cp-1"].address]
        depends_on = [talosmith_cluster.this]
      }
      ephemeral "talosmith_talosconfig" "this" {
        cluster_name = "test"
        endpoints    = [talosmith_simulated_machine.this["cp-1"].address]
        roles        = ["os:reader"]
        depends_on   = [talosmith_cluster.this]
      }
    `;
  };

  test("a machine that is taken out leaves before it is destroyed, and the majority of etcd is kept", async () => {
    const three = { "cp-1": "controlplane", "cp-2": "controlplane", "cp-3": "controlplane" } as const;
    const workspace = await open(members(three));
    await workspace.apply();
    const outputs = JSON.parse((await workspace.ok(["output", "-json"])).stdout);
    expect(outputs).toMatchObject({ healthy: { value: true }, problems: { value: [] } });
    expect(await workspace.isSettled()).toBe(true);

    // All memberships replaced at once: refused before anything is touched.
    workspace.write("main.tf", members(three, "-2"));
    const refused = await workspace.run(plan);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("Several control planes at once");

    const two = { "cp-1": "controlplane", "cp-2": "controlplane" } as const;
    workspace.write("main.tf", members(two));
    const gone = await workspace.run(apply, { TF_LOG_PROVIDER: "INFO" });
    expect(gone.code, gone.text).toBe(0);
    expect(gone.stderr).toMatch(/remove cp-3 from the cluster and wipe its disk.*step-finished/);
    expect(gone.text).toContain('talosmith_member.this["cp-3"]: Destruction complete');
    expect(JSON.parse((await workspace.ok(["output", "-json"])).stdout)).toMatchObject({ problems: { value: [] } });
    expect(await workspace.isSettled()).toBe(true);
    const end = await workspace.destroy();
    expect(end.text).not.toContain("did not leave by itself");
    // The simulator ends a moment after its last machine.
    await expect.poll(() => existsSync(workspace.simulatorDirectory), { timeout: 30_000 }).toBe(false);
  });

  test.skipIf(!everything)("a stack of workers joins another's control plane and leaves it as it was", async () => {
    const workers = (names: readonly string[]) => `
      resource "talosmith_simulated_machine" "more" {
        for_each = toset(${JSON.stringify(names)})
        name     = each.key
        cluster  = "test"
      }
      resource "talosmith_cluster" "more" {
        name               = talosmith_cluster.this.name
        endpoint           = talosmith_cluster.this.endpoint
        talos_version      = talosmith_cluster.this.talos_version
        kubernetes_version = talosmith_cluster.this.kubernetes_version
        join               = { control_planes = [talosmith_simulated_machine.this["cp-1"].address] }
        machines = { for name, machine in talosmith_simulated_machine.more : name => {
          role        = "worker"
          address     = machine.address
          fingerprint = machine.fingerprint
        } }
      }`;
    const base = clusterConfig({ machines: { "cp-1": "controlplane" } });
    const provider = 'secrets_file = "secrets.yaml"\n  owner = "environment test, backend local, workspace default"';
    const workspace = await open(base + workers(["x-1", "x-2"]), { provider });
    const first = await workspace.ok(plan);
    expect(first.text).toContain("1. apply initial config to x-1");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    workspace.write("main.tf", base + workers(["x-1"]));
    expect((await workspace.ok(plan)).text).toContain("remove x-2 from the cluster and wipe its disk");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    workspace.write("main.tf", base);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});
