// SPDX-License-Identifier: Apache-2.0
// Backups and add-ons through the real terraform or tofu, on one simulated machine.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const secret = "correct-horse-battery";
const endpoints = 'endpoints = [talosmith_simulated_machine.this["cp-1"].address]';

function config(trigger: string, replicas: number): string {
  return `${clusterConfig({ machines: { "cp-1": "controlplane" } })}
resource "talosmith_etcd_snapshot" "this" {
  cluster_name = talosmith_cluster.this.name
  ${endpoints}
  directory    = "backups"
  triggers     = { reason = "${trigger}" }
}

resource "talosmith_addon" "this" {
  name         = "app"
  namespace    = "apps"
  ${endpoints}
  chart        = "./charts/app"
  values       = [yamlencode({ replicas = ${replicas} })]
  values_files = ["secret-values.yaml"]
  depends_on   = [talosmith_cluster.this]
}
`;
}

describe.skipIf(!everything).each(tools)("under $name", (tool) => {
  let workspace: ClusterWorkspace;
  const file = (name: string) => join(workspace.directory, name);
  const backups = () => readdirSync(file("backups")).filter((name) => name.endsWith(".json"));
  const helmCalls = () => readFileSync(file("releases.json.calls"), "utf8");

  beforeAll(async () => {
    const environment: Record<string, string> = { TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs") };
    workspace = await ClusterWorkspace.open(tool, config("first", 1), { environment });
    environment.STAND_IN_HELM = file("releases.json");
    mkdirSync(file("charts/app"), { recursive: true });
    writeFileSync(file("charts/app/Chart.yaml"), "apiVersion: v2\nname: app\nversion: 0.1.0\n");
    writeFileSync(file("secret-values.yaml"), `password: ${secret}\n`);
    await workspace.apply();
  });
  afterAll(() => workspace.dispose());

  test("an apply takes a backup and installs the add-on, and the plan after it is empty", async () => {
    expect(backups()).toHaveLength(1);
    expect(helmCalls()).toContain('"upgrade","app"');
    expect(await workspace.isSettled()).toBe(true);
    for (const args of ["-refresh=false", "-refresh-only"]) expect(await workspace.isSettled(args), args).toBe(true);
  });

  test("no secret of the values is in the state or in an argument", () => {
    expect(readFileSync(file("terraform.tfstate"), "utf8")).not.toContain(secret);
    const arguments_ = helmCalls()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.stringify(JSON.parse(line).argv));
    expect(arguments_.join()).not.toContain(secret);
  });

  test("another trigger takes another backup, other values another revision", async () => {
    workspace.write("main.tf", config("second", 2));
    await workspace.apply();
    expect(backups()).toHaveLength(2);
    expect(JSON.parse(readFileSync(file("releases.json"), "utf8"))["apps/app"]).toHaveLength(2);
    expect(await workspace.isSettled()).toBe(true);
  });

  test("a backup that was pruned is no change where a newer one stays", async () => {
    const newest = backups().sort().at(-1)?.replace(".json", "") ?? "";
    const later = newest.replace(/-\d{8}T\d{6}Z-/, "-20990101T000000Z-");
    for (const part of [".db", ".json"]) renameSync(file(`backups/${newest}${part}`), file(`backups/${later}${part}`));
    const manifest = JSON.parse(readFileSync(file(`backups/${later}.json`), "utf8"));
    const takenAt = "2099-01-01T00:00:00.000Z";
    writeFileSync(file(`backups/${later}.json`), JSON.stringify({ ...manifest, takenAt }));
    expect(await workspace.isSettled()).toBe(true);
  });

  test("a changed file of values, a backup that is gone and a release that is gone are seen by the next plan", async () => {
    writeFileSync(file("secret-values.yaml"), `password: ${secret}2\n`);
    const changed = await workspace.run(["plan", "-no-color", "-input=false", "-detailed-exitcode"]);
    expect(changed.text).toContain("talosmith_addon.this will be updated in-place");
    expect(changed.text).not.toContain(secret);
    rmSync(file("backups"), { recursive: true });
    writeFileSync(file("releases.json"), "{}");
    const gone = await workspace.run(["plan", "-no-color", "-input=false", "-detailed-exitcode"]);
    expect(gone.text).toContain("talosmith_addon.this will be created");
    expect(gone.text).toContain("talosmith_etcd_snapshot.this will be created");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
  });

  test("both are imported by what is there, and an apply neither takes a backup nor touches the release", async () => {
    const before = [backups(), readFileSync(file("releases.json"), "utf8")];
    const [backup = ""] = backups().filter((name) => name.endsWith(".json"));
    const { resources } = JSON.parse(readFileSync(file("terraform.tfstate"), "utf8")) as {
      resources: { type: string; instances: { attributes: { address: string } }[] }[];
    };
    const machine = resources.find(({ type }) => type === "talosmith_simulated_machine");
    const address = machine?.instances[0]?.attributes.address;
    await workspace.ok(["state", "rm", "talosmith_etcd_snapshot.this", "talosmith_addon.this"]);
    await workspace.ok([
      "import",
      "-input=false",
      "talosmith_etcd_snapshot.this",
      `backups/${backup.replace(".json", "")}`,
    ]);
    await workspace.ok(["import", "-input=false", "talosmith_addon.this", `${address}/apps/app`]);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    expect([backups(), readFileSync(file("releases.json"), "utf8")]).toEqual(before);
  });

  test("without helm the plan fails before anything is changed", async () => {
    const nowhere = { TALOSMITH_HELM: "/nowhere/helm" };
    const { code, text } = await workspace.run(["plan", "-no-color", "-input=false"], nowhere);
    expect(code).toBe(1);
    expect(text).toContain("add-ons need helm");
  });

  test("a destroy uninstalls the add-on and keeps the backup", async () => {
    await workspace.destroy();
    expect(JSON.parse(readFileSync(file("releases.json"), "utf8"))).toEqual({});
    expect(backups()).toHaveLength(1);
  });
});
