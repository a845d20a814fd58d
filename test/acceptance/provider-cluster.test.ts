// SPDX-License-Identifier: Apache-2.0
// The skeleton types under the real tools and over the simulator, in the order of terraform-plugin-testing.
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clusterConfig } from "../support/cluster-workspace.ts";
import { apply, plan, underTools } from "../support/under-tools.ts";

const machines = { "cp-1": "controlplane", "cp-2": "controlplane", "cp-3": "controlplane", "w-1": "worker" } as const;

underTools("a cluster", ({ open }) => {
  test("comes up, stays as it is, changes, is repaired, shrinks and goes", async () => {
    const workspace = await open(clusterConfig({ machines, files: true }));
    const file = (name: string) => join(workspace.directory, name);

    const first = await workspace.ok(plan);
    expect(first.text).toContain("1. apply initial config to cp-1");
    expect(first.text).toContain("bootstrap etcd on cp-1");
    expect(existsSync(file("secrets.yaml"))).toBe(false);
    await workspace.apply();
    expect(statSync(file("secrets.yaml")).mode & 0o777).toBe(0o600);
    for (const name of ["files/kubeconfig", "files/talosconfig"]) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    for (const args of [["-refresh=false"], ["-refresh-only"], []])
      expect(await workspace.isSettled(...args), args.join()).toBe(true);

    // A wish: the plan says what happens, without a word about addresses.
    const wish = { machines, files: true, more: 'additional_sans = ["api.example"]' };
    workspace.write("main.tf", clusterConfig(wish));
    const changed = (await workspace.ok(plan)).text;
    expect(changed).toContain("1. apply config to cp-1 without a reboot");
    // Steps of the apply before this one are not told again, as taken away.
    expect(changed).not.toContain("apply initial config to cp-1");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    // Files that are missing or changed are written again.
    rmSync(file("files/kubeconfig"));
    writeFileSync(file("files/talosconfig"), "broken");
    expect(await workspace.isSettled()).toBe(false);
    await workspace.apply();
    expect(readFileSync(file("files/kubeconfig"), "utf8")).toContain("client-certificate-data");
    expect(await workspace.isSettled()).toBe(true);

    // A machine that is switched off: a warning, and nothing is lost.
    const simulator = workspace.simulator();
    const worker = (await simulator.listMachines()).find(({ name }) => name === "w-1");
    await simulator.setPower(worker?.id ?? "", false);
    const dark = await workspace.ok([...plan, "-detailed-exitcode"]);
    expect(dark.text).toContain("Some machines could not be checked");
    expect(dark.text).toContain("w-1");
    await simulator.setPower(worker?.id ?? "", true);

    // One machine less: it leaves before it goes.
    const { "w-1": _gone, ...fewer } = machines;
    workspace.write("main.tf", clusterConfig({ ...wish, machines: fewer }));
    const less = await workspace.ok(plan);
    expect(less.text).toContain("remove w-1 from the cluster and wipe its disk");

    await workspace.destroy();
    expect(existsSync(workspace.simulatorDirectory)).toBe(false);
    expect(existsSync(file("files/kubeconfig"))).toBe(false);
    expect(existsSync(file("secrets.yaml"))).toBe(true);
  });

  test("takes a member's word that it has left, and does not warn about its disk", async () => {
    const two = { "cp-1": "controlplane", "w-1": "worker" } as const;
    const workspace = await open(clusterConfig({ machines: two, members: true }), {
      environment: { TALOSMITH_EVENT_FILE: "events.jsonl" },
    });
    await workspace.apply();
    // The care of the rollout counts for a member too, also where it is new in the same plan.
    const gate = `command = ["sh", "-c", "echo $TALOSMITH_MACHINE >> gates.log; test -e gates.open"]`;
    const more = `rollout = { drain_timeout = "1m", gates = [{ ${gate}, timeout = "1s" }] }`;
    workspace.write("main.tf", clusterConfig({ machines: { "cp-1": "controlplane" }, members: true, more }));
    workspace.write("events.jsonl", "");
    const shut = await workspace.run(apply);
    expect(shut.text).toMatch(/gate before w-1/);
    expect(workspace.read("events.jsonl")).not.toContain('"message":"move the pods');
    workspace.write("gates.open", "");
    await workspace.apply();
    expect(workspace.read("gates.log")).toContain("w-1");
    const told = workspace.read("events.jsonl");
    expect(told).toContain("remove w-1 from the cluster and wipe its disk");
    expect(told).not.toContain("is not wiped");
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });

  test("refuses what would do harm, at plan and at the attribute", async () => {
    const small = { machines: { "cp-1": "controlplane" } as const };
    const workspace = await open(clusterConfig(small));
    const refusal = async (body: string) => {
      workspace.write("main.tf", body);
      const { code, text } = await workspace.run(plan);
      expect(code).toBe(1);
      return text;
    };
    const refused = await refusal(clusterConfig({ machines: { "cp-1": "worker" }, kubernetesVersion: "1.20.0" }));
    expect(refused).toContain("too old to be used with Talos");
    expect(refused).toMatch(/No control plane.*At: machines/);

    workspace.write("main.tf", clusterConfig({ ...small, more: 'on_destroy = "prevent"' }));
    await workspace.apply();
    expect(await refusal(clusterConfig({ ...small, talosVersion: "v1.13.8" }))).toContain("Versions only go up");
    expect(await refusal(clusterConfig({ ...small, kubernetesVersion: "1.35.0" }))).toContain("Versions only go up");
    expect(await refusal(clusterConfig({ ...small, more: 'dns_domain = "other.local"' }))).toContain(
      "Can't be changed",
    );

    const kept = { members: true, memberEnd: "prevent", more: 'on_destroy = "prevent"' };
    const both = { machines: { "cp-1": "controlplane", "w-1": "worker" } } as const;
    workspace.write("main.tf", clusterConfig({ ...both, ...kept }));
    await workspace.apply();
    const destroy = await workspace.run(["destroy", "-auto-approve", "-no-color"]);
    expect(destroy.code).toBe(1);
    expect(destroy.text).toContain("The cluster is protected");
    const replaced = await workspace.run([...apply, "-no-color", '-replace=talosmith_member.this["w-1"]']);
    expect([replaced.code, replaced.text]).toEqual([1, expect.stringContaining("The machine is protected")]);
    expect(await refusal(clusterConfig({ ...small, ...kept }))).toMatch(
      /w-1 is\s+"prevent": the machine can't be removed/,
    );
    const states = (await workspace.simulator().listMachines()).map(({ name }) => name);
    expect(states.sort()).toEqual(["cp-1", "w-1"]);

    // What protected it is lifted by an apply of its own.
    workspace.write("main.tf", clusterConfig({ ...both, members: true }));
    await workspace.apply();

    // The secrets are gone, or are those of another cluster: nothing is touched.
    const secrets = join(workspace.directory, "secrets.yaml");
    renameSync(secrets, `${secrets}.kept`);
    expect((await workspace.run(plan)).text).toContain("The cluster's secrets are missing");
    renameSync(`${secrets}.kept`, secrets);

    await workspace.destroy();
  });

  test("a create that failed leaves nothing tainted and goes on where it was", async () => {
    const workspace = await open(
      clusterConfig({ machines: { "cp-1": "controlplane", "w-1": "worker" }, more: 'timeouts = { create = "4s" }' }),
    );
    await workspace.ok([...apply, "-target=talosmith_simulated_machine.this"]);
    const simulator = workspace.simulator();
    const worker = (await simulator.listMachines()).find(({ name }) => name === "w-1");
    await simulator.setPower(worker?.id ?? "", false);
    const failed = await workspace.run(apply);
    expect(failed.code).toBe(1);
    expect(failed.text).toContain("raise timeouts.create");
    expect(await workspace.resource("talosmith_cluster.this")).toBeUndefined();
    await simulator.setPower(worker?.id ?? "", true);
    workspace.write("main.tf", clusterConfig({ machines: { "cp-1": "controlplane", "w-1": "worker" } }));
    const again = await workspace.ok(plan);
    expect(again.text).toContain("will be created");
    expect(again.text).not.toContain("tainted");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});
