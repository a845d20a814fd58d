// SPDX-License-Identifier: Apache-2.0
// One cluster, one state: another workspace gets neither its machines nor its end.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { apply, plan, underTools } from "../support/under-tools.ts";

const machines = { "cp-1": "controlplane" } as const;
const owner = (workspace: string) => `environment test, backend local:/terraform.tfstate, workspace ${workspace}`;
const provider = `secrets_file = "secrets.yaml"\n  owner        = "${owner("${terraform.workspace}")}"`;
const destroy = ["destroy", "-no-color", "-input=false", "-auto-approve"];

/** Without the frame and the line breaks that Terraform puts around them. */
const words = (text: string) => text.replaceAll(/[│╷╵\s]+/g, " ");

underTools("owners", ({ open }) => {
  const running = async (workspace: ClusterWorkspace) =>
    (await workspace.simulator().listMachines()).map(({ name, stage }) => `${name} ${stage}`);

  test("a simulated machine stays with the workspace that made it, until another imports it", async () => {
    const machine = 'resource "talosmith_simulated_machine" "this" {\n  name    = "cp-1"\n  cluster = "test"\n}\n';
    const workspace = await open(machine, { provider });
    await workspace.apply();
    const [made] = await workspace.simulator().listMachines();
    // A create whose outcome got lost, as by a kill, finds its own machine.
    await workspace.ok(["state", "rm", "talosmith_simulated_machine.this"]);
    await workspace.apply();
    expect(await workspace.simulator().listMachines()).toMatchObject([{ id: made?.id }]);

    await workspace.ok(["workspace", "new", "-no-color", "other"]);
    const refused = await workspace.run(apply);
    expect(refused.code).toBe(1);
    expect(words(refused.text)).toContain(`the simulated machine cp-1 belongs to another state: ${owner("default")}`);
    expect(words(refused.text)).toContain(`This is ${owner("other")}.`);
    expect(words(refused.text)).toContain(`terraform import talosmith_simulated_machine.<name> ${made?.id}`);
    await workspace.ok(["import", "-no-color", "-input=false", "talosmith_simulated_machine.this", made?.id ?? ""]);
    expect(await workspace.isSettled()).toBe(true);

    await workspace.ok(["workspace", "select", "-no-color", "default"]);
    await workspace.ok(["state", "rm", "talosmith_simulated_machine.this"]);
    expect(words((await workspace.run(apply)).text)).toContain(`belongs to another state: ${owner("other")}`);
    await workspace.ok(["workspace", "select", "-no-color", "other"]);
    await workspace.destroy();
  });

  test.skipIf(!everything)(
    "a second workspace is refused, and can neither have nor wipe the machines of the first",
    async () => {
      const workspace = await open(clusterConfig({ machines, members: true }), { provider });
      await workspace.apply();
      expect(await workspace.isSettled()).toBe(true);
      const [machine] = await workspace.simulator().listMachines();

      await workspace.ok(["workspace", "new", "-no-color", "other"]);
      const adopted = await workspace.run(apply);
      expect(adopted.code).toBe(1);
      expect(words(adopted.text)).toContain(`the simulated machine cp-1 belongs to another state: ${owner("default")}`);

      // Machines by their address, as those that nobody makes: here the cluster itself tells whose it is.
      const { address = "", fingerprint = "" } = machine ?? {};
      workspace.write("main.tf", byAddress(address, fingerprint));
      const refused = await workspace.run(apply);
      expect(refused.code).toBe(1);
      expect(words(refused.text)).toContain(`the cluster belongs to another state: ${owner("default")}`);
      expect(words(refused.text)).toContain("terraform import");
      // Its membership is in the second state by now, and takes nothing away.
      const wiped = await workspace.run(destroy);
      expect(wiped.code).toBe(1);
      expect(words(wiped.text)).toContain(`the cluster belongs to another state: ${owner("default")}`);
      expect(await running(workspace)).toEqual(["cp-1 running"]);
      await workspace.ok(["state", "rm", "talosmith_member.this"]);

      await workspace.ok(["workspace", "select", "-no-color", "default"]);
      workspace.write("main.tf", clusterConfig({ machines, members: true }));
      expect(await workspace.isSettled()).toBe(true);

      // An older copy of the same state is the same owner, and is warned about.
      const state = join(workspace.directory, "terraform.tfstate");
      copyFileSync(state, `${state}.old`);
      workspace.write("main.tf", clusterConfig({ machines, members: true, more: 'additional_sans = ["api.example"]' }));
      await workspace.apply();
      expect((await workspace.ok(plan)).text).not.toContain("older than the cluster");
      copyFileSync(`${state}.old`, state);
      const old = await workspace.run(plan);
      expect(words(old.text)).toContain("The state is older than the cluster");
      expect(words(old.text)).toContain("was applied once since this state was written");
      await workspace.apply();
      expect((await workspace.ok(plan)).text).not.toContain("older than the cluster");
      await workspace.destroy();
      expect(await running(workspace)).toEqual([]);
    },
  );

  test.skipIf(!everything)("a state that lost its cluster to an import is refused at plan", async () => {
    const config = (sans: string) => clusterConfig({ machines, members: true, more: `additional_sans = ["${sans}"]` });
    const workspace = await open(config("one.example"), { provider });
    await workspace.apply();
    const [{ id = "", address = "" } = {}] = await workspace.simulator().listMachines();
    await workspace.ok(["workspace", "new", "-no-color", "other"]);
    for (const [resource, by] of [
      ['talosmith_simulated_machine.this["cp-1"]', id],
      ['talosmith_member.this["cp-1"]', `test,cp-1,${id},${address}`],
      ["talosmith_cluster.this", address],
    ] as const)
      await workspace.ok(["import", "-no-color", "-input=false", resource, by]);
    workspace.write("main.tf", config("two.example"));
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    await workspace.ok(["workspace", "select", "-no-color", "default"]);
    workspace.write("main.tf", config("three.example"));
    for (const command of [plan, apply, [...apply, "-refresh=false"], destroy]) {
      const { code, text } = await workspace.run(command);
      expect(code).toBe(1);
      expect(words(text)).toContain(`the cluster belongs to another state: ${owner("other")}`);
    }
    expect(await running(workspace)).toEqual(["cp-1 running"]);
    await workspace.ok(["workspace", "select", "-no-color", "other"]);
    workspace.write("main.tf", config("two.example"));
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});

function byAddress(address: string, fingerprint: string): string {
  return `
resource "talosmith_member" "this" {
  name       = "cp-1"
  cluster    = "test"
  machine_id = "cp-1"
  address    = "${address}"
}
resource "talosmith_cluster" "this" {
  name               = "test"
  endpoint           = "https://${address}:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  machines = {
    cp-1 = {
      role        = "controlplane"
      address     = "${address}"
      fingerprint = "${fingerprint}"
      member_id   = talosmith_member.this.id
    }
  }
}`;
}
