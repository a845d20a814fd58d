// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { addApproval } from "./flags.ts";

const environment = ["<environment>", "name of a file in environments/, without .yaml"] as const;
const json = ["--json", "print JSON", false] as const;

/** Snapshots of etcd: taken, checked, rehearsed and thrown away. */
export function registerBackup(program: Command, context: CommandContext): void {
  const backup = program.command("backup").description("take, list, check and prune backups of etcd");
  const actions = () => import("../actions/backup.ts");
  backup
    .command("create")
    .description("take a backup now and put it where the environment says")
    .argument(...environment)
    .option(...json)
    .action(async (name: string, options: { json: boolean }) => (await actions()).create(name, options, context));
  backup
    .command("list")
    .description("show the backups of an environment, oldest first")
    .argument(...environment)
    .option(...json)
    .action(async (name: string, options: { json: boolean }) => (await actions()).list(name, options, context));
  backup
    .command("verify")
    .description("read a backup back from end to end; exit code 1 when it is not what was put there")
    .argument(...environment)
    .argument("[backup]", "its name, or latest", "latest")
    .option("--all", "every backup", false)
    .action(async (name: string, which: string, options: { all: boolean }) =>
      (await actions()).verify(name, which, options, context),
    );
  addApproval(backup.command("prune"))
    .description("remove the backups that no rule of backup.keep keeps, and what killed runs have left")
    .argument(...environment)
    .option("--dry-run", "only tell what would be removed", false)
    .action(async (name: string, options: ApprovalFlags & { dryRun: boolean }) =>
      (await actions()).prune(name, options, context),
    );
  backup
    .command("drill")
    .description("restore a backup into the simulator and compare what comes out")
    .argument(...environment)
    .argument("[backup]", "its name, or latest", "latest")
    .option(...json)
    .action(async (name: string, which: string, options: { json: boolean }) => {
      const { drill } = await import("../actions/backup.ts");
      await drill(name, which, options, context);
    });
  backup
    .command("run")
    .description("take and prune backups by backup.schedule until it is stopped; a changed file counts at once")
    .argument(...environment)
    .action(async (name: string) => {
      const { run } = await import("../actions/backup-run.ts");
      await run(name, context);
    });
}
