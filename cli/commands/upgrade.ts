// SPDX-License-Identifier: Apache-2.0
import { Command } from "commander";
import type { UpgradeFlags } from "../actions/upgrade.ts";
import type { CommandContext } from "../context.ts";
import { addApproval, addTo } from "./flags.ts";

/** Newer versions for a running cluster: into the environment's file first, then onto the machines. */
export function registerUpgrade(program: Command, context: CommandContext): void {
  const upgrade = program.command("upgrade").description("upgrade Talos or Kubernetes of an environment");
  const run = async (field: "talosVersion" | "kubernetesVersion", name: string, flags: UpgradeFlags) => {
    const { upgradeTo } = await import("../actions/upgrade.ts");
    await upgradeTo(field, name, flags, context);
  };
  const talos = described("talos", "upgrade Talos, machine by machine", "v1.13.9");
  addTo(
    upgrade,
    talos.action((name: string, flags: UpgradeFlags) => run("talosVersion", name, flags)),
  );
  for (const [parent, word] of [
    [upgrade, "k8s"],
    [program, "upgrade-k8s"],
  ] as const) {
    const command = described(word, "upgrade Kubernetes, component by component", "1.36.3");
    const ready = command.action((name: string, flags: UpgradeFlags) => run("kubernetesVersion", name, flags));
    addTo(parent, word === "k8s" ? ready.alias("kubernetes") : ready);
  }
}

function described(word: string, description: string, example: string): Command {
  return addApproval(new Command(word))
    .description(description)
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .requiredOption("--to <version>", `version to upgrade to, such as ${example}`)
    .option("--dry-run", "show the steps and change nothing, not even the file", false)
    .option("--write-only", "change the environment's file and leave the rest to the next deploy", false)
    .option("--json", "report progress as NDJSON on stdout", false);
}
