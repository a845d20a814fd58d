// SPDX-License-Identifier: Apache-2.0
// What must never happen: more is thrown away than was planned, a lost cluster after a crash, a second etcd.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyPatches, parsePatch } from "../../talos/config/index.ts";
import { type ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { apply, plan, underTools } from "../support/under-tools.ts";

const one = { "cp-1": "controlplane" } as const;

underTools("safety", ({ open }) => {
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
    expect(refused.text).toContain("delete Kubernetes node w-1");
    expect(refused.text).toContain("Plan again");
    // The next plan says it, and its apply may do it.
    const again = await workspace.ok(plan);
    expect(again.text).toContain("delete Kubernetes node w-1");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
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
      const more = 'timeouts = { create = "6s" }';
      const workspace = await open(clusterConfig({ machines, members: true, more }));
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

  test.skipIf(!everything)("a dead control plane leaves etcd when it is taken out, unless etcd needs it", async () => {
    const planes = { "cp-1": "controlplane", "cp-2": "controlplane", "cp-3": "controlplane" } as const;
    const { "cp-3": _, ...two } = planes;
    const workspace = await open(clusterConfig({ machines: planes, members: true, files: true }));
    await workspace.apply();
    const simulator = workspace.simulator();
    const all = await simulator.listMachines();
    const switchOff = async (name: string) =>
      simulator.setPower(all.find((machine) => machine.name === name)?.id ?? "", false);
    const inEtcd = async () => {
      const machine = workspace.machineAt(all[0]?.address ?? "");
      const members = await machine.etcdMemberList({ local: true }).finally(() => machine.close());
      return members.map(({ hostname }) => hostname).sort();
    };
    await switchOff("cp-3");
    workspace.write("main.tf", clusterConfig({ machines: two, members: true, files: true }));
    // The membership alone: what the cluster's own update would clean up is not asked for.
    const gone = await workspace.ok([...apply, `-target=talosmith_member.this["cp-3"]`]);
    expect(gone.text).toContain("A machine was taken out of the cluster without its help");
    expect(await inEtcd()).toEqual(["cp-1", "cp-2"]);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    await switchOff("cp-2");
    workspace.write("main.tf", clusterConfig({ machines: one, members: true, files: true }));
    const refused = await workspace.run(apply);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("cp-2 cannot leave: of 2 etcd members");
    expect((await simulator.listMachines()).map(({ name }) => name)).toEqual(["cp-1", "cp-2"]);
    expect(await inEtcd()).toEqual(["cp-1", "cp-2"]);
    const end = await workspace.destroy();
    expect(end.text).toContain("Some machines were not wiped");
    expect(existsSync(join(workspace.directory, "generated/test/control-planes.json"))).toBe(false);
  });

  test("a config that was edited behind our back is shown and put back", async () => {
    const asked = clusterConfig({ machines: one, files: true }).replace(
      "kubeconfig_path",
      'contents = ["kubeconfig"]\n$&',
    );
    const output =
      'output "kubeconfig" {\nvalue = talosmith_client_files.this.files["kubeconfig"]\nsensitive = true\n}';
    const workspace = await open(`${asked}\n${output}`);
    await workspace.apply();
    expect((await workspace.ok(["output", "-raw", "kubeconfig"])).stdout).toBe(workspace.read("files/kubeconfig"));
    const [{ address } = { address: "" }] = await workspace.simulator().listMachines();
    const machine = workspace.machineAt(address);
    const config = (await machine.machineConfig()) ?? "";
    const edited = applyPatches(config, [parsePatch("machine: {sysctls: {vm.swappiness: '1'}}", "edit")], "config");
    expect(await workspace.isSettled("-refresh-only")).toBe(true);
    await machine.applyConfiguration(edited, { mode: "no-reboot" });
    expect(await workspace.isSettled("-refresh-only")).toBe(false);
    const planned = await workspace.run([...plan, "-detailed-exitcode"]);
    expect(planned.code, planned.text).toBe(2);
    expect(planned.text).toContain("1. apply config to cp-1 without a reboot: machine.sysctls");
    await workspace.apply();
    expect(await machine.machineConfig()).not.toContain("swappiness");
    machine.close();
    for (const args of [["-refresh-only"], []]) expect(await workspace.isSettled(...args), args.join()).toBe(true);
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
  const machine = workspace.machineAt(address);
  await machine.reset({ graceful: false, reboot: true });
  machine.close();
}
