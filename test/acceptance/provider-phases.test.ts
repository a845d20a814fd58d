// SPDX-License-Identifier: Apache-2.0
// The types that need no running cluster, each through every phase in the order of Terraform's own plugin tests.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { everything } from "../support/everything.ts";
import { plan, underTools } from "../support/under-tools.ts";

const long = test.runIf(everything);

const detailedPlan = [...plan, "-detailed-exitcode"];

interface Wishes {
  readonly machine?: string;
  readonly path?: string;
  readonly release?: string;
  readonly onDestroy?: string;
  readonly platform?: string;
  readonly role?: string;
  readonly talosRole?: string;
  readonly index?: string;
}

/** Everything hangs together, so that the first plan has unknown values everywhere. */
const config = (wishes: Wishes = {}) => `
provider "talosmith" {
  alias   = "cluster"
  secrets = talosmith_secrets.this.bundle
}
resource "talosmith_secrets" "this" {
  talos_version = "${wishes.release ?? "v1.13.9"}"
}
resource "talosmith_simulated_machine" "this" {
  name          = "${wishes.machine ?? "cp-1"}"
  cluster       = "test"
  talos_version = "${wishes.release ?? "v1.13.9"}"
}
resource "talosmith_member" "this" {
  name       = "cp-1"
  cluster    = "test"
  machine_id = talosmith_simulated_machine.this.id
  address    = talosmith_simulated_machine.this.address
  on_destroy = "${wishes.onDestroy ?? "leave"}"
}
resource "talosmith_cloud_init" "this" {
  path           = "${wishes.path ?? "generated/seed.iso"}"
  meta_data      = yamlencode({ instance-id = talosmith_simulated_machine.this.id, local-hostname = "cp-1" })
  network_config = yamlencode({ version = 2, ethernets = { eth0 = { dhcp4 = true } } })
}
data "talosmith_schematic" "this" {
  talos_version = "v1.13.9"
  platform      = "${wishes.platform ?? "nocloud"}"
}
data "talosmith_machine_config" "this" {
  provider           = talosmith.cluster
  name               = "test"
  endpoint           = "https://127.0.0.1:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  role               = "${wishes.role ?? "worker"}"
  depends_on         = [talosmith_secrets.this]
}
data "talosmith_health" "this" {
  provider = talosmith.cluster
  endpoint = "https://127.0.0.1:1"
  machines = { cp-1 = { role = "${wishes.role ?? "controlplane"}", address = talosmith_simulated_machine.this.address } }
}
ephemeral "talosmith_talosconfig" "this" {
  provider     = talosmith.cluster
  cluster_name = "test"
  endpoints    = [talosmith_simulated_machine.this.address]
  roles        = ["${wishes.talosRole ?? "os:reader"}"]
}
output "healthy" { value = data.talosmith_health.this.healthy }
output "mac"     { value = provider::talosmith::node_mac("worker", ${wishes.index ?? "1"}) }
output "address" { value = provider::talosmith::node_address("10.0.0.0/24", 70, 1) }
output "patched" { value = provider::talosmith::patch("machine:\\n  type: worker\\n", "machine: {nodeLabels: {a: b}}") }
`;

underTools("all phases", ({ open }) => {
  long("every type that needs no cluster goes through every phase", { timeout: 600_000 }, async () => {
    const workspace = await open(config(), { provider: "" });
    await workspace.ok(["validate", "-no-color"]);
    const first = await workspace.ok(detailedPlan, {}, 2);
    expect(first.text).toContain("known after apply");
    await workspace.apply();
    expect(await workspace.isSettled("-refresh=false")).toBe(true);
    expect(await workspace.isSettled()).toBe(true);
    const outputs = JSON.parse((await workspace.ok(["output", "-json"])).stdout);
    expect(outputs).toMatchObject({ healthy: { value: false }, mac: { value: "52:54:00:c2:00:02" } });

    const machine = await workspace.resource("talosmith_simulated_machine.this");
    const secrets = await workspace.resource("talosmith_secrets.this");
    writeFileSync(join(workspace.directory, "kept.yaml"), String(secrets?.bundle), { mode: 0o600 });
    for (const [type, by] of [
      ["talosmith_simulated_machine", machine?.id],
      ["talosmith_member", `test,cp-1,${machine?.id},${machine?.address}`],
      ["talosmith_cloud_init", "generated/seed.iso"],
      ["talosmith_secrets", "kept.yaml"],
    ] as const) {
      await workspace.ok(["state", "rm", `${type}.this`]);
      await workspace.ok(["import", "-no-color", "-input=false", `${type}.this`, String(by)]);
    }
    // A file does not tell which release its secrets were made for; nothing else is different.
    const imported = await workspace.run(detailedPlan);
    expect(imported.text).toContain("Plan: 0 to add, 1 to change, 0 to destroy");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    // In place, each of them.
    workspace.write("main.tf", config({ release: "v1.13.8", onDestroy: "keep" }));
    const changed = await workspace.ok(detailedPlan, {}, 2);
    expect(changed.text).toContain("0 to add, 3 to change, 0 to destroy");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    // Anew.
    workspace.write("main.tf", config({ machine: "cp-2", path: "generated/other.iso", onDestroy: "keep" }));
    const replaced = await workspace.ok(detailedPlan, {}, 2);
    for (const type of ["simulated_machine", "member", "cloud_init"])
      expect(replaced.text).toContain(`talosmith_${type}.this must be replaced`);

    // Refused, at the attribute.
    for (const [wishes, places] of [
      [{ release: "next" }, ["talosmith_simulated_machine", "talosmith_secrets"]],
      [
        { onDestroy: "flee", platform: "moon", role: "boss" },
        ["talosmith_member", "data.talosmith_schematic", "data.talosmith_machine_config"],
      ],
      [{ talosRole: "os:king", path: "" }, ["ephemeral.talosmith_talosconfig", "talosmith_cloud_init"]],
      [{ index: "-1" }, ["provider::talosmith::node_mac"]],
    ] as const) {
      workspace.write("main.tf", config({ onDestroy: "keep", ...wishes }));
      const refused = await workspace.run(detailedPlan);
      expect(refused.code, JSON.stringify(wishes)).toBe(1);
      for (const place of places) expect.soft(refused.text, JSON.stringify(wishes)).toContain(place);
    }

    // Gone behind our back: the machine is planned anew, the seed comes back by itself.
    workspace.write("main.tf", config({ onDestroy: "keep" }));
    await workspace.apply();
    rmSync(join(workspace.directory, "generated/seed.iso"));
    await workspace.simulator().deleteMachine(String(machine?.id));
    const gone = await workspace.ok(detailedPlan, {}, 2);
    expect(gone.text).toContain("talosmith_simulated_machine.this will be created");
    await workspace.apply();
    const end = await workspace.destroy();
    expect(end.text).toContain("Destroy complete");
  });
});
