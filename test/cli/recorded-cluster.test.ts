// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerRestore } from "../../cli/commands/restore.ts";
import { registerRotateCa } from "../../cli/commands/rotate-ca.ts";
import { registerStatus } from "../../cli/commands/status.ts";
import { projectSite } from "../../cli/helper/operate-site.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { type DesiredCluster, saveSnapshot } from "../../talos/cluster/index.ts";
import { createSecretsFile } from "../../talos/secrets/index.ts";
import { testContext } from "../support/command-context.ts";
import { testSecrets } from "../talos/cluster/fixture.ts";
import { type SimulatedLab, simulatedLab } from "../talos/cluster/simulated-cluster.ts";

/** Machines that Terraform made are known by its state alone; here simulated ones stand in for virtual ones. */
describe("a cluster on machines that Terraform made", { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-recorded-"));
  const at = (path: string) => join(root, path);
  let lab: SimulatedLab;
  let desired: DesiredCluster;

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
    await runProgram(createProgram(context, [registerRestore, registerRotateCa, registerStatus]), args, context);
    return context.written;
  }
  const state = (resources: readonly object[]) =>
    writeFileSync(at("state/lab.tfstate"), JSON.stringify({ version: 4, serial: 1, resources }));
  const resource = (type: string, attributes: object) => ({
    mode: "managed",
    type,
    name: "x",
    instances: [{ attributes }],
  });

  beforeAll(async () => {
    for (const folder of ["environments", "state", "secrets"]) mkdirSync(at(folder));
    writeFileSync(at("cdktf.json"), "{}");
    writeFileSync(
      at("environments/lab.yaml"),
      "infrastructure: { kind: libvirt, uri: 'qemu:///system', network: { cidr: 10.0.0.0/24 } }\ncontrolPlane: { count: 1 }\nsecrets: { file: secrets/lab.yaml }\n",
    );
    await createSecretsFile(at("secrets/lab.yaml"), testSecrets());
    lab = await simulatedLab("lab");
    await lab.create("cp-1");
    desired = await lab.desired(["cp-1"]);
    await lab.apply(desired);
    const [machine] = await lab.machines(["cp-1"]);
    if (machine === undefined) throw new Error("no machine");
    const { role, address, fingerprint } = machine;
    state([
      resource("libvirt_domain", {}),
      resource("talosmith_cluster", {
        name: "lab",
        endpoint: desired.endpoint,
        talos_version: "v1.13.9",
        kubernetes_version: "1.36.3",
        machines: { "cp-1": { role, address, fingerprint } },
      }),
    ]);
  }, 120_000);

  afterAll(async () => {
    await lab.end();
    rmSync(root, { recursive: true, force: true });
  });

  test("is seen with its machines, and its CAs can be exchanged", async () => {
    const status = await talosmith("status", "lab");
    expect(status.stdout, status.stderr).toContain("cp-1");
    const { stdout, exitCode, stderr } = await talosmith("rotate-ca", "lab");
    expect(exitCode, stderr).toBe(0);
    expect(stdout.match(/change the config of cp-1/g)).toHaveLength(3);
  });

  test("is looked at by the operator, which leaves it to Terraform", async () => {
    const context = testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
    const site = projectSite(root, ["lab"], context);
    const look = await site.look(site.load("lab"), context.signal);
    expect(look.machines.map(({ name }) => name)).toEqual(["cp-1"]);
    expect(look.observed.machines.get("cp-1")?.state.kind).toBe("configured");
    expect(look.obstacle).toBe("it belongs to Terraform: talosmith deploy lab");
  });

  test("is restored from a backup", async () => {
    const snapshot = at("etcd.snapshot");
    await saveSnapshot({ desired, secrets: testSecrets(), path: snapshot });
    const refused = await talosmith("restore", "lab", "--from", snapshot, "--yes");
    expect(refused.stderr).toContain("cp-1 still have etcd data");
    const { exitCode, stderr } = await talosmith("restore", "lab", "--from", snapshot, "--yes", "--discard-data");
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain("lab is back");
    expect(existsSync(at("generated/lab/kubeconfig"))).toBe(true);
  });

  test("that is not in the state is told not to be deployed", async () => {
    state([resource("libvirt_domain", {})]);
    for (const command of [
      ["status", "lab"],
      ["restore", "lab", "--from", at("etcd.snapshot"), "--yes"],
    ])
      expect((await talosmith(...command)).stderr).toContain("lab is not deployed: its state has no cluster");
  });
});
