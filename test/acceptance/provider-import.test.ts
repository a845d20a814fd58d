// SPDX-License-Identifier: Apache-2.0
// What is there already comes into a state without being made or changed again.
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { encodeTalosconfig, generateTalosconfig } from "../../talos/config/index.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { type ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { plan, underTools } from "../support/under-tools.ts";

const one = { "cp-1": "controlplane" } as const;

underTools("imports", ({ open }) => {
  test("a running cluster, its machines, members, files and seeds are imported and are then as they should be", async () => {
    const base = clusterConfig({ machines: { ...one, "w-1": "worker" }, files: true, members: true });
    const config = `${base}
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
    const secrets = await secretsStore({ kind: "file", path: join(workspace.directory, "secrets.yaml") }).read();
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
});

/** What `talosmith kubeconfig` writes: a control plane issues another one to whoever asks. */
async function freshKubeconfig(workspace: ClusterWorkspace, address: string): Promise<string> {
  const machine = workspace.machineAt(address);
  const kubeconfig = await machine.kubeconfig();
  machine.close();
  return kubeconfig;
}
