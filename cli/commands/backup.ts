// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { addApproval, environmentCommand, runs } from "./flags.ts";

/** Snapshots of etcd: taken, checked, rehearsed and thrown away. */
export function registerBackup(program: Command, context: CommandContext): void {
  const backup = program.command("backup").description("take, list, check and prune backups of etcd");
  const actions = () => import("../actions/backup.ts");
  environmentCommand(backup, "create")
    .description("take a backup now and put it where the environment says")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).create));
  environmentCommand(backup, "list")
    .description("show the backups of an environment, oldest first")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).list));
  environmentCommand(backup, "verify")
    .description("read a backup back from end to end; exit code 1 when it is not what was put there")
    .argument("[backup]", "its name, or latest", "latest")
    .option("--all", "every backup", false)
    .option("--json", "print NDJSON, a line per backup", false)
    .action(runs(context, async () => (await actions()).verify));
  addApproval(environmentCommand(backup, "prune"))
    .description("remove the backups that no rule of backup.keep keeps, and what killed runs have left")
    .option("--dry-run", "only tell what would be removed", false)
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).prune));
  environmentCommand(backup, "drill")
    .description("restore a backup into the simulator and compare what comes out")
    .argument("[backup]", "its name, or latest", "latest")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).drill));
  environmentCommand(backup, "run")
    .description("take and prune backups by backup.schedule until it is stopped; a changed file counts at once")
    .option("--json", "log as NDJSON on stdout", false)
    .action(runs(context, async () => (await actions()).run));
}
