// SPDX-License-Identifier: Apache-2.0
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { addTargetFlags } from "../machine/target-flags.ts";
import { addApproval, addJson, addSwitch, collectNamed, runs } from "./flags.ts";

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
    .option("--json", "print NDJSON, a line per machine", false)
    .action(runs(context, async () => (await actions()).apply));
  addJson(addTargetFlags(program.command("bootstrap")))
    .description("start etcd on one control plane, once in a cluster's life")
    .action(runs(context, async () => (await actions()).bootstrap));
  const rebootCommand = addJson(
    addTargetFlags(program.command("reboot")),
    "print NDJSON, a line per machine",
  ).description("reboot a machine");
  addSwitch(rebootCommand, "wait", "wait until it runs again", false);
  rebootCommand.action(runs(context, async () => (await actions()).reboot));
  const resetCommand = addApproval(
    addJson(addTargetFlags(program.command("reset")), "print NDJSON, a line per machine"),
  )
    .description("wipe a machine")
    .option("--reboot", "reboot after the wipe instead of powering off", false)
    .option("--system-labels-to-wipe <labels>", "wipe only these partitions, such as EPHEMERAL", collectNamed, [])
    .action(runs(context, async () => (await actions()).reset));
  addSwitch(resetCommand, "graceful", "drain it and leave etcd first", true);
  addTargetFlags(program.command("get"), { maintenance: true })
    .description("show resources of a machine, as talosctl does")
    .argument("<type>", "type or alias, such as machinestatus, members or services")
    .argument("[id]", "one resource instead of all")
    .option("--namespace <namespace>", "another than the type's own")
    .addOption(new Option("-o, --output <form>", "how to print it").choices(["table", "yaml", "json"]).default("table"))
    .option("-w, --watch", "go on and show every change", false)
    .option("--json", "the same as -o json", false)
    .action(runs(context, async () => (await import("../actions/get.ts")).get));
}

/** What machines say of themselves, as talosctl prints it. */
export function registerMachineLogs(program: Command, context: CommandContext): void {
  const actions = () => import("../actions/machine-logs.ts");
  addTargetFlags(program.command("logs"), { maintenance: true })
    .description("print the log of a service of a machine")
    .argument("<service>", "such as kubelet, etcd, machined; with -k a container")
    .option("-f, --follow", "go on with what comes", false)
    .addOption(new Option("--tail <lines>", "only so many of the last lines").argParser(lineCount).default(-1, "all"))
    .option("-k, --kubernetes", "a container of Kubernetes: <namespace>/<pod>:<container>", false)
    .option("--json", "print NDJSON", false)
    .action(runs(context, async () => (await actions()).logs));
  addTargetFlags(program.command("dmesg"), { maintenance: true })
    .description("print the kernel log of a machine")
    .option("-f, --follow", "go on with what comes", false)
    .option("--tail", "with --follow: only what comes from now on", false)
    .option("--json", "print NDJSON", false)
    .action(runs(context, async () => (await actions()).dmesg));
  addTargetFlags(program.command("service").alias("services"), { maintenance: true })
    .description("show the services of a machine, or one; start, stop or restart it")
    .argument("[id]", "such as kubelet; all when left out")
    .addArgument(
      new Argument("[action]", "what to do with it").choices(["status", "start", "stop", "restart"]).default("status"),
    )
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/service.ts")).service));
}

function lineCount(text: string): number {
  if (/^(-1|\d{1,9})$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number of lines");
}
