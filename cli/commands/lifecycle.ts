// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { UpgradeFlags } from "../actions/upgrade.ts";
import type { CommandContext } from "../context.ts";
import {
  addApproval,
  addSwitch,
  addWithoutKubernetes,
  collectList,
  countOption,
  environmentCommand,
  runs,
} from "./flags.ts";

/** Adds what every command takes that changes a cluster through its manager. */
function addChange(command: Command): Command {
  return addApproval(addWithoutKubernetes(command))
    .option("--json", "report progress as NDJSON on stdout", false)
    .option("--merge-kubeconfig", "add the cluster to your own kubeconfig and make it the current context", false);
}

export function registerDeploy(program: Command, context: CommandContext): void {
  addChange(environmentCommand(program, "deploy"))
    .description("bring an environment to what its file says, through terraform or tofu where one is on the PATH")
    .option("--without-terraform", "manage a new cluster without Terraform; existing ones keep their manager", false)
    .action(runs(context, async () => (await import("../actions/deploy.ts")).deploy));
}

export function registerPlan(program: Command, context: CommandContext): void {
  addWithoutKubernetes(environmentCommand(program, "plan"))
    .description("show what a deploy would change; exit code 2 when there is something")
    .option("--without-terraform", "plan a new cluster without Terraform; existing ones keep their manager", false)
    .addOption(
      new Option("--raw", "show the plan of terraform or tofu as it prints it").default(false).conflicts("json"),
    )
    .option("--json", "print the plan as JSON", false)
    .action(runs(context, async () => (await import("../actions/plan.ts")).plan));
}

export function registerDestroy(program: Command, context: CommandContext): void {
  const add = (word: string) =>
    addApproval(environmentCommand(program, word))
      .option("--dry-run", "show the plan and change nothing", false)
      .option("--json", "report progress as NDJSON on stdout", false)
      .action(runs(context, async () => (await import("../actions/destroy.ts")).destroy));
  add("destroy").description("reset every machine of an environment, then remove them; asks for confirmation");
  add("down").description("the same as destroy");
}

export function registerUp(program: Command, context: CommandContext): void {
  addChange(environmentCommand(program, "up"))
    .description("the same as deploy --without-terraform")
    .action(runs(context, async () => (await import("../actions/deploy.ts")).up));
}

/** Adds what a command takes that edits the environment's file, then deploys it. */
function addEdit(command: Command): Command {
  return addApproval(addWithoutKubernetes(command))
    .option("--dry-run", "show the plan and change nothing, not even the file", false)
    .option("--write-only", "change the environment's file and leave the rest to the next deploy", false)
    .option("--json", "report progress as NDJSON on stdout", false);
}

/** Newer versions for a running cluster: into the environment's file first, then onto the machines. */
export function registerUpgrade(program: Command, context: CommandContext): void {
  const add = (parent: Command, word: string, field: "talosVersion" | "kubernetesVersion") => {
    const [description, example] =
      field === "talosVersion"
        ? ["upgrade Talos, machine by machine", "v1.13.9, 1.13 or latest"]
        : ["upgrade Kubernetes, component by component", "1.36.3, 1.36 or latest"];
    return addEdit(environmentCommand(parent, word))
      .description(description)
      .option("--to <version>", `version to upgrade to, such as ${example}`)
      .action(async (name: string, flags: UpgradeFlags) => {
        const { upgradeTo } = await import("../actions/upgrade.ts");
        await upgradeTo(field, name, flags, context);
      });
  };
  const upgrade = addEdit(environmentCommand(program, "upgrade"))
    .description("upgrade Talos or Kubernetes of an environment; without talos or k8s, show the versions and ask")
    .action(runs(context, async () => (await import("../actions/choose-upgrade.ts")).chooseUpgrade));
  add(upgrade, "talos", "talosVersion");
  add(upgrade, "k8s", "kubernetesVersion").alias("kubernetes");
  add(program, "upgrade-k8s", "kubernetesVersion");
}

export function registerScale(program: Command, context: CommandContext): void {
  addEdit(environmentCommand(program, "scale"))
    .description("change the number of machines in a pool: in the environment's file first, then deploy it")
    .argument("<pool>", "name of the pool: cp for the control planes, w for workers without a name of their own")
    .requiredOption("--to <count>", "number of machines", countOption)
    .action(runs(context, async () => (await import("../actions/scale.ts")).scale));
}

export function registerRestore(program: Command, context: CommandContext): void {
  addApproval(environmentCommand(program, "restore"))
    .description("rebuild a cluster whose control planes lost their data from a backup of etcd")
    .requiredOption("--from <backup>", "latest, the name of a backup, a file, or s3://bucket/key")
    .option("--discard-data", "wipe the etcd data that control planes still have", false)
    .option("--dry-run", "show the plan and change nothing", false)
    .option("--delete-dead-nodes", "delete nodes of the backup that are not ready and not in the file", false)
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(runs(context, async () => (await import("../actions/restore.ts")).restore));
}

/** As `talosctl rotate-ca`, whose switches and defaults these are: without --dry-run=false it only tells. */
export function registerRotateCa(program: Command, context: CommandContext): void {
  const command = addApproval(environmentCommand(program, "rotate-ca")).description(
    "exchange the CAs of the Talos and Kubernetes APIs for new ones, without cutting anyone off",
  );
  addSwitch(command, "dry-run", "show the steps and change nothing", true);
  addSwitch(command, "talos", "exchange the CA of the Talos API", true);
  addSwitch(command, "kubernetes", "exchange the CA of the Kubernetes API", true);
  command
    .option("--age-recipient <recipient>", "for whom a secrets file is encrypted with age again", collectList, [])
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(runs(context, async () => (await import("../actions/rotate-ca.ts")).rotateCa));
}

export function registerUnlock(program: Command, context: CommandContext): void {
  addApproval(environmentCommand(program, "unlock"))
    .description("take a cluster's lock away from a run that has died elsewhere")
    .option("--json", "print who held the lock as JSON", false)
    .action(runs(context, async () => (await import("../actions/unlock.ts")).unlock));
}
