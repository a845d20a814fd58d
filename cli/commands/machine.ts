// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import {
  type ApplyFlags,
  addTargetFlags,
  type GetFlags,
  type ResetFlags,
  type TargetFlags,
} from "../machine/target-flags.ts";
import { addApproval, addSwitch, collectNamed } from "./flags.ts";

/** Single steps on single machines, with talosctl's names and flags, under the cluster's lock. */
export function registerMachine(program: Command, context: CommandContext): void {
  const actions = () => import("../actions/machine.ts");

  addTargetFlags(program.command("apply").alias("apply-config"), { maintenance: true })
    .description("send a machine its config")
    .requiredOption("-f, --file <path>", "the machine config")
    .addOption(
      new Option("-m, --mode <mode>", "how to apply it")
        .choices(["auto", "no-reboot", "reboot", "staged", "try"])
        .default("auto"),
    )
    .option("--dry-run", "only tell what would change", false)
    .action(async (flags: ApplyFlags) => (await actions()).apply(flags, context));
  addTargetFlags(program.command("bootstrap"))
    .description("start etcd on one control plane, once in a cluster's life")
    .action(async (flags: TargetFlags) => (await actions()).bootstrap(flags, context));
  addTargetFlags(program.command("reboot"))
    .description("reboot a machine")
    .action(async (flags: TargetFlags) => (await actions()).reboot(flags, context));
  const resetCommand = addApproval(addTargetFlags(program.command("reset")))
    .description("wipe a machine")
    .option("--reboot", "reboot after the wipe instead of powering off", false)
    .option("--system-labels-to-wipe <labels>", "wipe only these partitions, such as EPHEMERAL", collectNamed, [])
    .action(async (flags: ResetFlags) => (await actions()).reset(flags, context));
  addSwitch(resetCommand, "graceful", "drain it and leave etcd first", true);
  addTargetFlags(program.command("get"), { maintenance: true })
    .description("show resources of a machine, as talosctl does")
    .argument("<type>", "type or alias, such as machinestatus, members or services")
    .argument("[id]", "one resource instead of all")
    .option("--namespace <namespace>", "another than the type's own")
    .addOption(new Option("-o, --output <form>", "how to print it").choices(["table", "yaml", "json"]).default("table"))
    .option("-w, --watch", "go on and show every change", false)
    .action(async (type: string, id: string | undefined, flags: GetFlags) => {
      const { get } = await import("../actions/get.ts");
      await get(type, id, flags, context);
    });
}
