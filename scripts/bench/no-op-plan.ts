// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProvider, installProvider, providerDirectory, providerSource } from "../../provider/package.ts";
import { simulatorAt } from "../../simulator/control/index.ts";
import { connect } from "../../talos/api/index.ts";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { type Profile, profileOf, wrapper } from "./profile.ts";
import { startTime } from "./provider-start.ts";
import { fastest, type Row, succeed } from "./row.ts";

const workers = 100;

/** Every machine is asked in a plan, side by side, so it should take about as long as one of them and Terraform itself. */
export const noOpPlan: Row = {
  name: "no-op terraform plan, 3 + 100 machines",
  anchor: "plan of as many terraform_data + 2 × slowest answer + 5 starts",
  budget: 1,
  async measure() {
    if (!terraformIsThere()) return { ours: Number.NaN, anchor: undefined, unit: "ms" };
    return withCluster(async ({ folder, directory, terraform }) => {
      const ours = await fastest(5, () => terraform(...plan));
      const simulator = simulatorAt(join(folder, "generated/.simulator"), {
        daemonCommand: [process.execPath, join(directory, "simulator-daemon.cjs")],
      });
      const addresses = (await simulator.listMachines()).map(({ address }) => address);
      const slowest = await slowestAnswer(addresses, join(folder, "talosconfig"));
      terraform("destroy", "-auto-approve", "-input=false", "-parallelism=50");
      writeFileSync(join(folder, "main.tf"), `resource "terraform_data" "this" {\n  count = ${workers + 5}\n}\n`);
      terraform("init", "-input=false");
      terraform("apply", "-auto-approve", "-input=false");
      const builtIn = await fastest(5, () => terraform("plan", "-detailed-exitcode", "-input=false"));
      const anchor = builtIn + 2 * slowest + 5 * (await startTime(5));
      return { ours, anchor, unit: "ms", note: `slowest answer ${Math.round(slowest)} ms` };
    });
  },
};

const plan = ["plan", "-detailed-exitcode", "-input=false", "-parallelism=50"];

/** Where the provider's time goes in such a plan; undefined without terraform. */
export async function noOpPlanProfile(): Promise<Profile | undefined> {
  if (!terraformIsThere()) return undefined;
  return withCluster(({ folder, terraform, withSettings }) =>
    profileOf("provider, no-op plan of 3 + 100 machines", async (nodeOptions) => {
      const mapped = join(folder, "mapped");
      await buildProvider(new URL("../..", import.meta.url).pathname, mapped, { sourceMaps: true });
      wrapper(
        join(folder, "profiled"),
        "terraform-provider-talosmith",
        nodeOptions,
        join(mapped, "terraform-provider-talosmith.cjs"),
      );
      const settings = join(folder, "terraform.rc");
      const override = `${JSON.stringify(providerSource)} = ${JSON.stringify(join(folder, "profiled"))}`;
      writeFileSync(settings, `provider_installation {\n  dev_overrides {\n    ${override}\n  }\n  direct {}\n}\n`);
      withSettings(settings, ...plan);
    }).finally(() => terraform("destroy", "-auto-approve", "-input=false", "-parallelism=50")),
  );
}

const terraformIsThere = () => spawnSync("terraform", ["version"]).status === 0;

interface AppliedCluster {
  readonly folder: string;
  /** The provider's. */
  readonly directory: string;
  terraform(...args: string[]): void;
  /** The same with a CLI configuration file of its own. */
  withSettings(file: string, ...args: string[]): void;
}

async function withCluster<T>(work: (cluster: AppliedCluster) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-bench-"));
  const env = { ...process.env, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" };
  const terraform = (...args: string[]) => succeed("terraform", args, { cwd: folder, env });
  const withSettings = (file: string, ...args: string[]) =>
    succeed("terraform", args, { cwd: folder, env: { ...env, TF_CLI_CONFIG_FILE: file } });
  try {
    writeFileSync(join(folder, "cdktf.json"), "{}");
    writeFileSync(join(folder, "main.tf"), cluster);
    await installProvider(folder);
    const directory = await providerDirectory();
    terraform("init", "-input=false");
    terraform("apply", "-auto-approve", "-input=false", "-parallelism=50");
    return await work({ folder, directory, terraform, withSettings });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of all machines asked at once for their status, version and config, as a refresh does: when the last has answered. */
async function slowestAnswer(addresses: readonly string[], talosconfig: string): Promise<number> {
  const { contexts, context } = parseTalosconfig(readFileSync(talosconfig, "utf8"), talosconfig);
  const credentials = contexts.get(context)?.credentials;
  if (credentials === undefined) throw new Error("the talosconfig has no credentials");
  return fastest(5, async () => {
    await Promise.all(
      addresses.map(async (address) => {
        const machine = connect(address, { kind: "mtls", credentials });
        await machine.machineStatus();
        await Promise.all([machine.version(), machine.machineConfig()]);
        machine.close();
      }),
    );
  });
}

const cluster = `
terraform {
  required_providers {
    talosmith = { source = "talosmith.internal/talosmith/talosmith" }
  }
}
provider "talosmith" {
  secrets_file = "secrets.yaml"
}
locals {
  machines = merge(
    { for i in range(3) : "cp-\${i + 1}" => "controlplane" },
    { for i in range(${workers}) : "w-\${i + 1}" => "worker" },
  )
}
resource "talosmith_simulated_machine" "this" {
  for_each      = local.machines
  name          = each.key
  cluster       = "bench"
  talos_version = "v1.13.9"
}
resource "talosmith_cluster" "this" {
  name               = "bench"
  endpoint           = "https://\${talosmith_simulated_machine.this["cp-1"].address}:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  machines = { for name, role in local.machines : name => {
    role        = role
    address     = talosmith_simulated_machine.this[name].address
    fingerprint = talosmith_simulated_machine.this[name].fingerprint
  } }
}
resource "talosmith_client_files" "this" {
  cluster_name     = talosmith_cluster.this.name
  endpoints        = [talosmith_simulated_machine.this["cp-1"].address]
  kubeconfig_path  = "kubeconfig"
  talosconfig_path = "talosconfig"
}
`;
