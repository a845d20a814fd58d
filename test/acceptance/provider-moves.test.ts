// SPDX-License-Identifier: Apache-2.0
// A cluster of the official provider comes under talosmith by `moved` blocks, with a plan that has nothing to do.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { secretsStore } from "../../talos/secrets/index.ts";
import { clusterConfig } from "../support/cluster-workspace.ts";
import { officialState } from "../support/foreign-cluster.ts";
import { layOfficialProvider } from "../support/official-provider.ts";
import { apply, plan, underTools } from "../support/under-tools.ts";

const ours = (addresses: readonly string[]) => `
locals {
  machines = {
    cp-1 = { role = "controlplane", address = "${addresses[0]}" }
    w-1  = { role = "worker", address = "${addresses[1]}" }
  }
}

resource "talosmith_member" "machine" {
  for_each   = local.machines
  name       = each.key
  cluster    = "test"
  machine_id = each.value.address
  address    = each.value.address
}

resource "talosmith_cluster" "cluster" {
  name               = "test"
  endpoint           = "https://${addresses[0]}:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  machines = { for name, machine in local.machines : name => {
    role      = machine.role
    address   = machine.address
    member_id = talosmith_member.machine[name].id
  } }
}

resource "talosmith_client_files" "client" {
  cluster_name     = talosmith_cluster.cluster.name
  endpoints        = ["${addresses[0]}"]
  kubeconfig_path  = "generated/test/kubeconfig"
  talosconfig_path = "generated/test/talosconfig"
  keep_on_disk     = false
}

removed {
  from = talos_machine_secrets.this
  lifecycle {
    destroy = false
  }
}

moved {
  from = talos_machine_bootstrap.this
  to   = talosmith_cluster.cluster
}

moved {
  from = talos_cluster_kubeconfig.this
  to   = talosmith_client_files.client
}

moved {
  from = talos_machine_configuration_apply.cp[0]
  to   = talosmith_member.machine["cp-1"]
}

moved {
  from = talos_machine_configuration_apply.cp[1]
  to   = talosmith_member.machine["w-1"]
}
`;

underTools("a move from the official provider", ({ open }) => {
  test("takes its resources over with nothing to do, once the secrets are in the bundle", async () => {
    const workspace = await open(clusterConfig({ machines: { "cp-1": "controlplane", "w-1": "worker" } }));
    await workspace.apply();
    const made = await workspace.simulator().listMachines();
    const addresses = ["cp-1", "w-1"].map((name) => made.find((machine) => machine.name === name)?.address ?? "");
    const file = join(workspace.directory, "secrets.yaml");
    const text = readFileSync(file, "utf8");
    const bundle = await secretsStore({ kind: "file", path: file }).read();

    // As the official provider would have left it, in a state of its own.
    await layOfficialProvider(workspace.directory);
    workspace.write("terraform.tfstate", JSON.stringify(officialState(bundle, addresses)));
    workspace.write("main.tf", ours(addresses));
    await workspace.ok(["init", "-input=false", "-no-color"]);

    rmSync(file);
    const without = await workspace.run(plan);
    expect(without.code).toBe(1);
    expect(without.text).toContain("talosmith gen secrets --from-terraform-state");

    writeFileSync(file, text, { mode: 0o600 });
    const planned = await workspace.ok(plan);
    expect(planned.text).toContain("Plan: 0 to add, 0 to change, 0 to destroy");
    expect(planned.text.match(/has moved to/g)).toHaveLength(4);
    await workspace.ok(apply);
    const state = workspace.read("terraform.tfstate");
    expect(state).not.toContain("PRIVATE KEY");
    expect(state).not.toContain(bundle.cluster.secret);
    expect(await workspace.isSettled()).toBe(true);
    workspace.write("main.tf", ours(addresses).replace(/\nremoved[\s\S]*$/, "\n"));
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});
