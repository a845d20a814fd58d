// SPDX-License-Identifier: Apache-2.0
// A cluster that is reached through one control plane only, as in a private network. That control plane's own address is
// a name which nobody here can resolve, so whatever reaches it has been passed on.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "../../talos/api/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { encodeSecrets, generateSecrets } from "../../talos/secrets/index.ts";
import { defaultTalosVersion } from "../../talos/version/index.ts";
import { everything } from "../support/everything.ts";
import { apply, underTools } from "../support/under-tools.ts";

const long = test.runIf(everything);

const settings = `
  name               = "test"
  endpoint           = "https://\${talosmith_simulated_machine.this["cp-1"].address}:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"`;

const machines = (list: string) => `
locals { machines = { ${list} } }

resource "talosmith_simulated_machine" "this" {
  for_each      = local.machines
  name          = each.key
  cluster       = "test"
  talos_version = "v1.13.9"
}

# What an instance gets as user data when it is made.
data "talosmith_machine_config" "user_data" {
  for_each        = local.machines
  ${settings}
  role            = each.value
  hostname        = each.key
  include_secrets = true
}

output "user_data" {
  sensitive = true
  value     = { for name, config in data.talosmith_machine_config.user_data : name => config.config }
}
`;

const cluster = (more = "") => `
locals {
  # The name of a machine is not known here, only to the machines themselves, and only while they have their configs.
  addresses = { for name, role in local.machines : name => role == "worker" ? talosmith_simulated_machine.this[name].address : name }
}

resource "talosmith_member" "this" {
  for_each        = local.machines
  name            = each.key
  cluster         = "test"
  machine_id      = talosmith_simulated_machine.this[each.key].id
  address         = local.addresses[each.key]
  talos_endpoints = [talosmith_simulated_machine.this["cp-1"].address]
}

resource "talosmith_cluster" "this" {
  ${settings}
  talos_endpoints = [talosmith_simulated_machine.this["cp-1"].address]
  machines = { for name, role in local.machines : name => {
    role      = role
    address   = local.addresses[name]
    member_id = talosmith_member.this[name].id
  } }
  ${more}
}

data "talosmith_health" "this" {
  endpoint        = talosmith_cluster.this.endpoint
  machines        = talosmith_cluster.this.machines
  talos_endpoints = talosmith_cluster.this.talos_endpoints
}

output "problems" { value = data.talosmith_health.this.problems }
`;

underTools("through one endpoint", ({ open }) => {
  long("a cluster comes up, changes, shrinks and ends; a machine without a config is refused", async () => {
    const all = machines('"cp-1" = "controlplane", "w-1" = "worker", "w-2" = "worker"');
    const workspace = await open(all);
    const { contract } = defaultTalosVersion;
    const secrets = await generateSecrets({ contract, clock: systemClock, entropy: systemEntropy });
    writeFileSync(join(workspace.directory, "secrets.yaml"), encodeSecrets(secrets), { mode: 0o600 });
    await workspace.apply();
    const userData = JSON.parse((await workspace.ok(["output", "-json", "user_data"])).stdout) as Record<
      string,
      string
    >;
    const giveUserData = async (...names: string[]) => {
      const made = await workspace.simulator().listMachines();
      for (const { name, address } of made.filter((machine) => names.includes(machine.name))) {
        const client = connect(address, { kind: "maintenance", trustOnFirstUse: true });
        await client.applyConfiguration(userData[name] ?? "");
        client.close();
      }
    };

    // Nobody has given w-2 its user data, and no endpoint can.
    await giveUserData("cp-1", "w-1");
    workspace.write("main.tf", `${all}${cluster()}`);
    const refused = await workspace.run(apply);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("w-2 has no config of this cluster, and an endpoint can't pass on its first one");
    expect(refused.text).toContain("as user data");

    await giveUserData("w-2");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    expect(JSON.parse((await workspace.ok(["output", "-json", "problems"])).stdout)).toEqual([]);

    // A change reaches the worker behind the endpoint, and one machine less leaves through it.
    const fewer = machines('"cp-1" = "controlplane", "w-1" = "worker"');
    workspace.write("main.tf", `${fewer}${cluster('registry_mirrors = { "docker.io" = ["https://mirror.example"] }')}`);
    const changed = await workspace.apply();
    expect(changed.text).not.toContain("did not leave by itself");
    expect(await workspace.isSettled()).toBe(true);

    const ended = await workspace.destroy();
    expect(ended.text).not.toContain("Some machines were not wiped");
    expect(ended.text).not.toContain("did not leave by itself");
  });
});
