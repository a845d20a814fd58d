// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { RestoreFlags } from "../actions/restore.ts";
import type { RotateCaFlags } from "../actions/rotate-ca.ts";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { addApproval, addSwitch, addWithoutKubernetes, collectList } from "./flags.ts";

export function registerDeploy(program: Command, context: CommandContext): void {
  addApproval(program.command("deploy"))
    .description("bring an environment to what its file says, through terraform or tofu where one is on the PATH")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, flags: ApprovalFlags) => {
      const { deploy } = await import("../actions/deploy.ts");
      await deploy(name, flags, context);
    });
}

export function registerPlan(program: Command, context: CommandContext): void {
  addWithoutKubernetes(program.command("plan"))
    .description("show what a deploy would change; exit code 2 when there is something")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, options: { kubernetes: boolean }) => {
      const { plan } = await import("../actions/plan.ts");
      await plan(name, options, context);
    });
}

export function registerDestroy(program: Command, context: CommandContext): void {
  addApproval(program.command("destroy"))
    .description(
      "take an environment down: reset every machine, then remove it; asks, but not about simulated machines",
    )
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, flags: ApprovalFlags) => {
      const { destroy } = await import("../actions/destroy.ts");
      await destroy(name, flags, context);
    });
}

/** The engine without Terraform. */
export function registerUp(program: Command, context: CommandContext): void {
  addApproval(addWithoutKubernetes(program.command("up")))
    .description("bring an environment to what its file says, without Terraform")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, options: ApprovalFlags & { json: boolean; kubernetes: boolean }) => {
      const { up } = await import("../actions/up.ts");
      await up(name, options, context);
    });
  addApproval(program.command("down"))
    .description("take an environment down that was brought up without Terraform")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, options: ApprovalFlags & { json: boolean }) => {
      const { down } = await import("../actions/up.ts");
      await down(name, options, context);
    });
}

export function registerRestore(program: Command, context: CommandContext): void {
  addApproval(program.command("restore"))
    .description("rebuild a cluster whose control planes lost their data from a backup of etcd")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .requiredOption("--from <backup>", "latest, the name of a backup, a file, or s3://bucket/key")
    .option("--discard-data", "throw away the etcd data that control planes still have", false)
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, flags: RestoreFlags) => {
      const { restore } = await import("../actions/restore.ts");
      await restore(name, flags, context);
    });
}

/** As `talosctl rotate-ca`, whose switches and defaults these are: without --dry-run=false it only tells. */
export function registerRotateCa(program: Command, context: CommandContext): void {
  const command = addApproval(program.command("rotate-ca"))
    .description("exchange the CAs of the Talos and Kubernetes APIs for new ones, without cutting anyone off")
    .argument("<environment>", "name of a file in environments/, without .yaml");
  addSwitch(command, "dry-run", "show the steps and change nothing", true);
  addSwitch(command, "talos", "exchange the CA of the Talos API", true);
  addSwitch(command, "kubernetes", "exchange the CA of the Kubernetes API", true);
  command
    .option("--age-recipient <recipient>", "for whom a secrets file is encrypted with age again", collectList, [])
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, flags: RotateCaFlags) => {
      const { rotateCa } = await import("../actions/rotate-ca.ts");
      await rotateCa(name, flags, context);
    });
}

export function registerUnlock(program: Command, context: CommandContext): void {
  addApproval(program.command("unlock"))
    .description("take a cluster's lock away from a run that has died elsewhere")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, flags: ApprovalFlags) => {
      const { unlock } = await import("../actions/unlock.ts");
      await unlock(name, flags, context);
    });
}
