// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { AdoptFlags } from "../actions/adopt.ts";
import type { CommandContext } from "../context.ts";
import { collect, collectList, type Given } from "./flags.ts";

export function registerAdopt(program: Command, context: CommandContext): void {
  program
    .command("adopt")
    .description("make an environment of a running cluster that talosctl, talhelper, Terraform or talos-operator made")
    .argument("<environment>", "name of the new file in environments/, without .yaml")
    .option("--talosctl <folder>", "with secrets.yaml or controlplane.yaml, and talosconfig")
    .option("--talhelper <file>", "talconfig.yaml; talsecret.yaml or talsecret.sops.yaml is looked for beside it")
    .option("--terraform-state <file>", "a state of the provider siderolabs/talos, from terraform state pull")
    .option(
      "--talos-operator <file>",
      "objects of talos-operator, from kubectl get -o yaml; may be repeated",
      collect,
      [],
    )
    .option("--secrets <file>", "the secrets bundle, when the files do not hold it; plain, age or SOPS")
    .option("-n, --nodes <addresses>", "addresses of machines, when the files do not tell any", collectList, [])
    .option(
      "--age-recipient <recipient>",
      "encrypt what is secret with age for this recipient; may be repeated",
      collect,
      [],
    )
    .option("--sops", "encrypt it with the sops program", false)
    .option("--dry-run", "print the environment's file and write nothing", false)
    .action(async (name: string, flags: Given<AdoptFlags, "talosctl" | "talhelper" | "terraformState" | "secrets">) => {
      const { adopt } = await import("../actions/adopt.ts");
      await adopt(name, flags, context);
    });
}
