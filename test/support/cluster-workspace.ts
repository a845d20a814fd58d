// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installProvider } from "../../provider/package.ts";
import { type SimulatorControl, simulatorAt } from "../../simulator/control/index.ts";
import { connect, type TalosClient } from "../../talos/api/index.ts";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { everything } from "./everything.ts";
import { type Tool, Workspace } from "./terraform.ts";

const header = `
terraform {
  required_providers {
    talosmith = {
      source  = "talosmith.internal/talosmith/talosmith"
      version = "0.1.0"
    }
  }
}
`;

/** A project of its own with our packaged provider, its simulator included. */
export class ClusterWorkspace extends Workspace {
  static async open(
    tool: Tool,
    body: string,
    {
      environment = {},
      provider = 'secrets_file = "secrets.yaml"',
    }: { environment?: Record<string, string>; provider?: string } = {},
  ): Promise<ClusterWorkspace> {
    const workspace = new ClusterWorkspace(tool, environment);
    workspace.write("cdktf.json", "{}");
    await installProvider(workspace.directory);
    workspace.write("provider.tf", `${header}\nprovider "talosmith" {\n  ${provider}\n}\n`);
    workspace.write("main.tf", body);
    await workspace.ok(["init", "-input=false", "-no-color"]);
    if (everything) await workspace.run(["validate", "-no-color"]);
    return workspace;
  }

  get simulatorDirectory(): string {
    return join(this.directory, "generated", ".simulator");
  }

  get daemonCommand(): readonly [string, ...string[]] {
    const plugins = join(
      this.directory,
      "terraform.d/plugins/talosmith.internal/talosmith/talosmith/0.1.0/linux_amd64",
    );
    return [process.execPath, join(plugins, "simulator-daemon.cjs")];
  }

  simulator(): SimulatorControl {
    return simulatorAt(this.simulatorDirectory, { daemonCommand: this.daemonCommand });
  }

  /** The API of a machine, with the talosconfig that `files` leaves. Whoever asks for it closes it. */
  machineAt(address: string): TalosClient {
    const { contexts, context } = parseTalosconfig(this.read("files/talosconfig"), "talosconfig");
    const credentials = contexts.get(context)?.credentials;
    if (credentials === undefined) throw new Error("the talosconfig has no credentials");
    return connect(address, { kind: "mtls", credentials });
  }

  /** Ends the simulator and takes everything away. */
  async dispose(): Promise<void> {
    if (existsSync(this.simulatorDirectory)) await this.simulator().shutdown();
    this.remove();
  }
}

export interface ClusterOptions {
  readonly machines: Readonly<Record<string, "controlplane" | "worker">>;
  readonly talosVersion?: string;
  readonly kubernetesVersion?: string;
  /** More attributes of the cluster, as HCL. */
  readonly more?: string;
  readonly files?: boolean;
  /** Whether each machine has a membership, so that it leaves before it is destroyed. */
  readonly members?: boolean;
  /** What the destroy of a membership does. @default the provider's */
  readonly memberEnd?: string;
}

/** HCL of a simulated cluster: its machines, the cluster, and perhaps the client files and the memberships. */
export function clusterConfig(options: ClusterOptions): string {
  const machines = Object.entries(options.machines).map(([name, role]) => `    ${JSON.stringify(name)} = "${role}"`);
  const files = `
resource "talosmith_client_files" "this" {
  cluster_name     = talosmith_cluster.this.name
  endpoints        = [for name, role in local.machines : talosmith_simulated_machine.this[name].address if role == "controlplane"]
  kubeconfig_path  = "files/kubeconfig"
  talosconfig_path = "files/talosconfig"
}`;
  const members = `
resource "talosmith_member" "this" {
  for_each   = local.machines
  name       = each.key
  cluster    = "test"
  machine_id = talosmith_simulated_machine.this[each.key].id
  address    = talosmith_simulated_machine.this[each.key].address
  ${options.memberEnd === undefined ? "" : `on_destroy = "${options.memberEnd}"`}
}`;
  return `
locals {
  machines = {
${machines.join("\n")}
  }
}

resource "talosmith_simulated_machine" "this" {
  for_each      = local.machines
  name          = each.key
  cluster       = "test"
  talos_version = "v1.13.9"
}

resource "talosmith_cluster" "this" {
  name               = "test"
  endpoint           = "https://\${talosmith_simulated_machine.this["cp-1"].address}:6443"
  talos_version      = "${options.talosVersion ?? "v1.13.9"}"
  kubernetes_version = "${options.kubernetesVersion ?? "1.36.3"}"
  machines = { for name, role in local.machines : name => {
    role        = role
    address     = talosmith_simulated_machine.this[name].address
    fingerprint = talosmith_simulated_machine.this[name].fingerprint
    ${options.members ? "member_id   = talosmith_member.this[name].id" : ""}
  } }
  ${options.more ?? ""}
}
${options.files ? files : ""}${options.members ? members : ""}`;
}
