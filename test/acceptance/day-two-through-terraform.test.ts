// SPDX-License-Identifier: Apache-2.0
// A cluster that Terraform manages, day by day: every command finds its manager, and leaves Terraform nothing to change.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { everything } from "../support/everything.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

describe.skipIf(!everything).each(tools)("a cluster that $name made", ({ path }) => {
  let checkout: Checkout;
  const at = (file: string) => join(checkout.root, file);
  const environment = cleanEnvironment({
    TERRAFORM_BINARY_NAME: path,
    TALOSMITH_SIMULATOR_TIME_SCALE: "0.2",
    TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
  });
  const talosmith = (...args: string[]) =>
    runCommand("node", ["bin/talosmith.js", ...args], { cwd: checkout.root, env: environment });
  const succeeds = async (...args: string[]) => {
    const { code, stdout, stderr } = await talosmith(...args);
    expect(code, `${args.join(" ")}: ${stdout}${stderr}`.slice(-3000)).toBe(0);
    return stdout;
  };
  const uid = async () => {
    const text = await kubernetesGet(
      readFileSync(at("generated/local/kubeconfig"), "utf8"),
      "/api/v1/namespaces/kube-system",
    );
    return JSON.parse(text).metadata.uid as string;
  };

  beforeAll(async () => {
    checkout = createCheckout();
    environment.STAND_IN_HELM = at("releases.json");
    writeFileSync(
      at("environments/local.yaml"),
      "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 0 }]\nsecrets: { file: generated/local/secrets.yaml }\nbackup: { directory: backups/local }\nstorage: { nfs: { server: 10.0.0.9, share: /srv/nfs, default: true } }\n",
    );
    await succeeds("deploy", "local", "--auto-approve");
  });
  afterAll(async () => {
    if (existsSync(at("generated/.simulator"))) {
      const { stderr } = await talosmith("down", "local");
      expect(stderr).toContain("local is destroyed.\n");
      expect(existsSync(at("state"))).toBe(false);
    }
    checkout.remove();
  });

  test("has the NFS driver and its StorageClass by the same apply", async () => {
    const releases = JSON.parse(readFileSync(at("releases.json"), "utf8"));
    expect(Object.keys(releases)).toEqual(["kube-system/csi-driver-nfs"]);
    const calls = readFileSync(at("releases.json.calls"), "utf8").trimEnd().split("\n");
    const upgrade = calls.map((line) => JSON.parse(line)).find(({ argv }) => argv[0] === "upgrade");
    const { storageClass } = parse(upgrade.files["--values"].join("\n"));
    expect(storageClass).toMatchObject({
      create: true,
      name: "nfs",
      annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
      parameters: { server: "10.0.0.9", share: "/srv/nfs" },
    });
    await succeeds("plan", "local");
  });

  test("is upgraded by the command that upgrades every cluster, through its state", async () => {
    const words = ["upgrade", "talos", "local", "--to", "v1.13.10"];
    const dry = await talosmith(...words, "--dry-run");
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("  Talos v1.13.9 → v1.13.10\n") });
    expect(checkout.gitStatus()).not.toContain("base.yaml");
    const done = await talosmith(...words, "--yes");
    expect(done.code, done.stderr).toBe(0);
    expect(done.stderr).toContain(`local is managed by ${basename(path)} (state/local.tfstate).\n`);
    expect(done.stderr).toMatch(/^\d\d:\d\d:\d\d \[\d+\/\d+\] ✓ upgrade Talos on local-cp-1/m);
    const { machines } = JSON.parse(await succeeds("status", "local", "--json"));
    expect(machines).toMatchObject([{ talos: "v1.13.10" }]);
    await succeeds("plan", "local");
  });

  test("is scaled up and down through its state, also by `up`", async () => {
    const names = async () =>
      JSON.parse(await succeeds("status", "local", "--json")).machines.map(({ name }: { name: string }) => name);
    await succeeds("scale", "local", "w", "--to", "1", "--yes");
    expect(await names()).toEqual(["local-cp-1", "local-w-1"]);
    await succeeds("scale", "local", "w", "--to", "0", "--write-only");
    const raw = await talosmith("plan", "local", "--raw");
    expect(raw).toMatchObject({ code: 2, stdout: expect.stringContaining("will be destroyed") });
    const up = await talosmith("up", "local", "--yes");
    expect(up.code, up.stderr).toBe(0);
    expect(up.stderr).toContain("--without-terraform is for new clusters.\n");
    expect(await names()).toEqual(["local-cp-1"]);
    await succeeds("plan", "local");
  });

  test("fails in the words of a deploy without Terraform, and says them once", async () => {
    const file = at("environments/local.yaml");
    const before = readFileSync(file, "utf8");
    writeFileSync(file, `${before}cluster: { patches: { all: [{ machine: { sysctls: { vm.swappiness: "1" } } }] } }\n`);
    await succeeds("sim", "fault", "local-cp-1", '{"kind":"reject-config","message":"the disk is read-only"}');
    const { code, stderr } = await talosmith("deploy", "local", "--yes");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: .*the disk is read-only$/m);
    expect(stderr).not.toMatch(/exit code|talosmith_cluster|Invalid input/);
    expect(stderr.match(/ ✗ /g)).toHaveLength(1);
    await succeeds("sim", "fault", "local-cp-1");
    writeFileSync(file, before);
    await succeeds("deploy", "local", "--yes");
  });

  test("keeps an empty plan when its CAs are exchanged", async () => {
    const before = readFileSync(at("generated/local/kubeconfig"), "utf8");
    await succeeds("rotate-ca", "local", "--dry-run=false");
    expect(readFileSync(at("generated/local/kubeconfig"), "utf8")).not.toBe(before);
    await expect(kubernetesGet(before, "/api/v1/nodes")).rejects.toThrow();
    await succeeds("plan", "local");
  });

  test("gets client files that end soon renewed by the next apply", async () => {
    await succeeds("talosconfig", "local", "generated/local/talosconfig", "--crt-ttl", "24h", "--force");
    expect((await talosmith("plan", "local")).code).toBe(2);
    await succeeds("deploy", "local", "--auto-approve");
    const { certificates } = JSON.parse(await succeeds("status", "local", "--json"));
    for (const { expiresAt } of certificates)
      expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(300 * 86_400_000);
    await succeeds("plan", "local");
  });

  test("is backed up, drilled, wiped and restored, and is then as its state says", async () => {
    const before = await uid();
    await succeeds("backup", "create", "local");
    expect(await succeeds("backup", "drill", "local")).toContain("the same.");
    const { machines } = JSON.parse(await succeeds("status", "local", "--json"));
    const [{ address }] = machines;
    const talosconfig = ["--talosconfig", "generated/local/talosconfig"];
    await succeeds("reset", "-n", address, ...talosconfig, "--graceful=false", "--reboot", "--yes");
    const stage = async () => JSON.parse((await talosmith("status", "local", "--json")).stdout).machines[0].stage;
    await expect.poll(stage, { timeout: 60_000 }).toBe("maintenance");
    await succeeds("restore", "local", "--from", "latest", "--yes");
    expect(await uid()).toBe(before);
    await succeeds("plan", "local");
  });
});
